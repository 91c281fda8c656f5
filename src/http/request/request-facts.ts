import type { IncomingMessage } from 'node:http';
import { headerOf } from './header.js';

/** A request of HTTP/2 says so itself: its headers need not. */
export const hasBody = (request: IncomingMessage & { hasBody?: boolean }): boolean =>
  request.hasBody ??
  (Number(headerOf(request, 'content-length') ?? 0) > 0 ||
    headerOf(request, 'transfer-encoding') !== undefined);

/** The client went away while it was being answered, which is no failure of the server. */
export const isBrokenOff = (error: unknown): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

/** For the log. Without the query and without a login in the address, which may be secrets. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  return path.startsWith('/') ? path : path.replace(/^([a-z]*:\/\/)?[^/]*@/i, '$1');
}

const overridable = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'COPY']);

/**
 * Clients that only know GET and POST say in a header of a POST what they mean. Who means HEAD waits for the body that any
 * answer to a POST has, and gets that of a GET, as in CouchDB.
 */
export function methodOf(request: IncomingMessage): string {
  const method = request.method ?? 'GET';
  if (method !== 'POST') return method;
  if (headerOf(request, 'x-http-method-override') === undefined) return method;
  const wanted = request.headers['x-http-method-override'];
  if (typeof wanted !== 'string' || !overridable.has(wanted)) return method;
  return wanted === 'HEAD' ? 'GET' : wanted;
}

/** Headers of a request that concern its connection, and not that by which it is passed on. */
export const hopHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'expect',
  'te',
  // Node refuses to send it before a body of known length.
  'trailer',
]);

/** The method by which a request is passed on: one that asks for a tunnel must not make one here. */
export const forwardedMethod = (request: IncomingMessage): string =>
  request.method === 'CONNECT' ? 'GET' : (request.method ?? 'GET');

/** Whether a path is that of a database that some nodes of a cluster may have only: others begin with `_`, or are none. */
export const namesMovable = ([first]: readonly string[]): boolean =>
  first !== undefined && first !== '' && !first.startsWith('_');
