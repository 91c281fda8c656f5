import type { IncomingMessage } from 'node:http';
import { forwardedMethod, hasBody, hopHeaders } from '../http/request/request-facts.js';

/** Carries what the connection says of a client: its version of HTTP, its address and, where Node treats it apart, the method. */
const clientHeader = 'x-tuffet-client';
/** Before the names of headers that concern the client's connection, and not that between two processes. */
const hopPrefix = 'x-tuffet-hop-';
/** Of a request for a WebSocket, these concern both connections. */
const upgradeHeaders = new Set(['connection', 'upgrade']);

/** The headers of a request on its way to the owner of the data folder, as a flat list. */
export function forwardedHeaders(request: IncomingMessage, isUpgrade: boolean): string[] {
  const { rawHeaders, httpVersion, method, socket } = request;
  const list = [clientHeader, `${httpVersion} ${socket.remoteAddress ?? '-'} ${method}`];
  let hasLength = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]!, rawHeaders[i + 1]!];
    const lower = name.toLowerCase();
    if (lower === clientHeader || lower.startsWith(hopPrefix)) continue;
    if (lower === 'content-length' || lower === 'transfer-encoding') hasLength = true;
    const isHop = hopHeaders.has(lower) && !(isUpgrade && upgradeHeaders.has(lower));
    list.push(isHop ? hopPrefix + name : name, value);
  }
  // Node would announce a body of unknown length.
  if (!hasLength && !hasBody(request) && mayHaveBody(forwardedMethod(request)))
    list.push('Content-Length', '0');
  return list;
}

const mayHaveBody = (method: string): boolean => method !== 'GET' && method !== 'HEAD';

/** Makes a forwarded request what it would be, had it come from the client. */
export function restoreRequest(request: IncomingMessage): void {
  const { rawHeaders, headers } = request;
  const list: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]!, rawHeaders[i + 1]!];
    const lower = name.toLowerCase();
    if (lower === clientHeader) restoreClient(request, value);
    // This one is between the two processes: what the client said of its own stands beside it.
    else if (lower !== 'connection' || headers.upgrade !== undefined)
      list.push(lower.startsWith(hopPrefix) ? name.slice(hopPrefix.length) : name, value);
  }
  if (headers.upgrade === undefined) delete headers.connection;
  for (const name of Object.keys(headers)) {
    if (!name.startsWith(hopPrefix)) continue;
    headers[name.slice(hopPrefix.length)] = headers[name];
    delete headers[name];
  }
  delete headers[clientHeader];
  request.rawHeaders = list;
}

function restoreClient(request: IncomingMessage, value: string): void {
  const [version = '1.1', address = '-', method = 'GET'] = value.split(' ');
  const [major, minor] = version.split('.').map(Number);
  Object.assign(request, {
    method,
    httpVersion: version,
    httpVersionMajor: major,
    httpVersionMinor: minor,
  });
  // The connection carries one request at a time, so that it has the address of that one's client meanwhile.
  Object.defineProperty(request.socket, 'remoteAddress', {
    value: address === '-' ? undefined : address,
    configurable: true,
  });
}
