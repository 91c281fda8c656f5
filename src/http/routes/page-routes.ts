import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Exchange } from '../exchange.js';
import type { ServerRoute } from './route.js';

/** The built-in page and its icon. */
export const pageRoutes: readonly ServerRoute[] = [
  { path: '/_utils', allow: 'GET,HEAD', access: 'public', methods: { GET: page } },
  { path: '/_utils/session.html', allow: 'GET,HEAD', access: 'public', methods: { GET: sendPage } },
  { path: '/favicon.ico', allow: 'GET,HEAD', access: 'public', methods: { GET: favicon } },
];

interface Asset {
  text: string;
  modified: string;
}

function load(name: string): Asset {
  const file = new URL(`../assets/${name}`, import.meta.url);
  return { text: fs.readFileSync(file).toString('latin1'), modified: fs.statSync(file).mtime.toUTCString() };
}

const assets = new Map<string, Asset>();

function asset(name: string): Asset {
  let found = assets.get(name);
  if (found === undefined) assets.set(name, (found = load(name)));
  return found;
}

/** The page uses relative addresses, so it must be seen under a path that ends with a slash. */
function page(exchange: Exchange): void {
  if (!exchange.rawPath.split('?')[0]!.endsWith('/')) {
    exchange.empty(301, { Location: exchange.location('/_utils/') });
  } else sendPage(exchange);
}

/** It asks for a login where one is needed: browsers are sent to it then. */
function sendPage(exchange: Exchange): void {
  const { text, modified } = asset('index.html');
  exchange.send(200, 'text/html; charset=utf-8', text, {
    'Last-Modified': modified,
    ...policyOf(exchange, text),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
  });
}

function policyOf({ services: { config } }: Exchange, page: string): OutgoingHttpHeaders {
  if (!config.boolean('csp/utils_enable')) return {};
  return { 'Content-Security-Policy': config.text('csp/utils_header_value') || ownPolicy(page) };
}

/** Lets the page run its own script and nothing else, so that a name of a database cannot become one. */
function ownPolicy(page: string): string {
  const hashes = (tag: string): string =>
    [...page.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))]
      .map(([, text = '']) => ` 'sha256-${createHash('sha256').update(text, 'latin1').digest('base64')}'`)
      .join('');
  return (
    `default-src 'self'; img-src 'self' data:; script-src 'self'${hashes('script')}; ` +
    `style-src 'self'${hashes('style')}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'`
  );
}

function favicon(exchange: Exchange): void {
  const { text, modified } = asset('favicon.ico');
  exchange.send(200, 'image/x-icon', text, { 'Last-Modified': modified, 'Cache-Control': 'max-age=86400' });
}
