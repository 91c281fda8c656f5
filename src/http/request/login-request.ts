import type { OutgoingHttpHeaders } from 'node:http';
import { asBytes, fromBytes } from '../../base/bytes.js';
import type { RequestError } from '../../base/errors.js';
import { takesType } from './negotiate.js';
import { isText } from './path.js';
import type { Exchange } from '../exchange.js';

/** The default page that browsers are redirected to for a login. */
const loginPage = '/_utils/session.html';

/**
 * Asks a client to log in: by a header that makes browsers ask for a password, where the client or the configuration
 * wants that, or by a redirect to a page; other programs just get the status.
 */
export function askToLogIn(
  exchange: Exchange,
  { reason }: RequestError,
): { status: number; headers: OutgoingHttpHeaders } | undefined {
  const { config } = exchange.services;
  const challenge = exchange.header('x-couchdb-www-authenticate') ?? config.text('chttpd/WWW-Authenticate');
  if (challenge !== '' && isHeaderText(challenge)) {
    return { status: 401, headers: { 'WWW-Authenticate': challenge } };
  }
  if (requiresUser(exchange)) return { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="server"' } };
  if (!wantsPage(exchange)) return undefined;
  const path = asBytes(exchange.rawPath.split('?')[0]!);
  const page = config.text('chttpd_auth/authentication_redirect') || loginPage;
  const query = `return=${encodeURIComponent(isText(path) ? fromBytes(path) : path)}&reason=${encodeURIComponent(reason.toWellFormed())}`;
  return { status: 302, headers: { Location: addressOf(exchange, `${page}?${query}`) } };
}

function requiresUser({ services: { config } }: Exchange): boolean {
  return (
    config.boolean('chttpd/require_valid_user') || config.boolean('chttpd/require_valid_user_except_for_up')
  );
}

/** Whether the client is a browser that shows pages, and no program that takes JSON. */
export function wantsPage(exchange: Exchange): boolean {
  const accept = exchange.header('accept') ?? '*/*';
  return takesType(accept, 'text/html') && !takesType(accept, 'application/json');
}

/** The address of a page: a path of this server, or an address of its own. */
export function addressOf(exchange: Exchange, page: string): string {
  const text = isHeaderText(page) ? page : encodeURI(page.toWellFormed());
  return text.startsWith('/') ? exchange.location(text) : text;
}

const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
