import fs from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { notFound } from '../../base/errors.js';
import { findPageFile, type PageFile } from '../answer/page-files.js';
import type { Exchange } from '../exchange.js';
import { namesTag } from '../request/negotiate.js';
import type { ServerRoute } from './route.js';

/** The admin page, its files and its icon. */
export const pageRoutes: readonly ServerRoute[] = [
  { path: '/_utils', allow: 'GET,HEAD', access: 'public', methods: { GET: page } },
  { path: '/_utils/*', allow: 'GET,HEAD', access: 'public', methods: { GET: pageFile } },
  { path: '/favicon.ico', allow: 'GET,HEAD', access: 'public', methods: { GET: favicon } },
];

/** The page uses relative addresses, so it must be seen under a path that ends with a slash. */
async function page(exchange: Exchange): Promise<void> {
  if (!exchange.rawPath.split('?')[0]!.endsWith('/')) {
    exchange.empty(301, { Location: exchange.location('/_utils/') });
  } else await sendFile(exchange, ['index.html']);
}

async function pageFile(exchange: Exchange): Promise<void> {
  const parts = exchange.parts.slice(1).map((part) => Buffer.from(part, 'latin1').toString());
  await sendFile(exchange, parts);
}

async function sendFile(exchange: Exchange, parts: readonly string[]): Promise<void> {
  const folder = exchange.services.config.text('tuffet/utils_dir');
  const accepted = exchange.header('accept-encoding') ?? '';
  const find = (names: readonly string[]): Promise<PageFile | undefined> =>
    findPageFile(folder, names, accepted);
  // Browsers are sent to session.html where a login is needed: the page asks for one by itself.
  const isSessionPage = parts.length === 1 && parts[0] === 'session.html';
  const file = (await find(parts)) ?? (isSessionPage ? await find(['index.html']) : undefined);
  if (!file)
    throw notFound(parts[0] === 'index.html' ? 'The admin page is not built: npm run build.' : 'missing');
  const headers: OutgoingHttpHeaders = {
    ETag: file.etag,
    'Last-Modified': file.modified,
    Vary: 'Accept-Encoding',
    'Cache-Control': folder === '' && parts[0] === 'assets' ? hashedNames : 'no-cache',
    ...policyOf(exchange, folder, parts),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    ...(file.encoding === undefined ? {} : { 'Content-Encoding': file.encoding }),
  };
  if (namesTag(exchange.header('if-none-match'), file.etag)) return exchange.empty(304, headers);
  exchange.send(200, file.type, (await file.read()).toString('latin1'), headers);
}

/** The names of these files change with their contents, so browsers need not ask again. */
const hashedNames = 'public, max-age=31536000, immutable';

/** Lets the page run its own files and talk to its own server, and nothing else. */
const ownPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** What Fauxton, the page of CouchDB, can live with. */
const otherPolicy =
  "default-src 'self'; child-src 'self' data: blob:; img-src 'self' data:; font-src 'self'; " +
  "script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";

/** The page tries map functions in a worker, which may run code from text, and load and send nothing. */
const workerPolicy = "default-src 'none'; script-src 'unsafe-eval'";

function policyOf(
  { services: { config } }: Exchange,
  folder: string,
  parts: readonly string[],
): OutgoingHttpHeaders {
  if (folder === '' && parts[1]?.startsWith('sample-worker-'))
    return { 'Content-Security-Policy': workerPolicy };
  if (!config.boolean('csp/utils_enable')) return {};
  const configured = config.text('csp/utils_header_value');
  return { 'Content-Security-Policy': configured || (folder === '' ? ownPolicy : otherPolicy) };
}

const iconFile = new URL('../assets/favicon.ico', import.meta.url);

async function favicon(exchange: Exchange): Promise<void> {
  const [bytes, { mtime }] = await Promise.all([fs.promises.readFile(iconFile), fs.promises.stat(iconFile)]);
  exchange.send(200, 'image/x-icon', bytes.toString('latin1'), {
    'Last-Modified': mtime.toUTCString(),
    'Cache-Control': 'max-age=86400',
  });
}
