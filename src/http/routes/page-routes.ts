import fs from 'node:fs';
import type { Exchange } from '../exchange.js';
import type { ServerRoute } from '../route.js';

/** The built-in page and its icon. */
export const pageRoutes: readonly ServerRoute[] = [
  { path: '/_utils', allow: 'GET,HEAD', access: 'public', methods: { GET: page } },
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
    return;
  }
  const { text, modified } = asset('index.html');
  exchange.send(200, 'text/html; charset=utf-8', text, {
    'Last-Modified': modified,
    'Content-Security-Policy':
      "default-src 'self'; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
    'X-Frame-Options': 'DENY',
  });
}

function favicon(exchange: Exchange): void {
  const { text, modified } = asset('favicon.ico');
  exchange.send(200, 'image/x-icon', text, { 'Last-Modified': modified, 'Cache-Control': 'max-age=86400' });
}
