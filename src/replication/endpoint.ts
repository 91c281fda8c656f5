import { badRequest, RequestError } from '../base/errors.js';

/** Where a replication reads from or writes to. */
export type Endpoint = LocalEndpoint | RemoteEndpoint;

/** A database of this server. */
export interface LocalEndpoint {
  kind: 'local';
  name: string;
}

export interface RemoteEndpoint {
  kind: 'remote';
  /** Without credentials, and with a slash at its end. */
  url: string;
  headers: Readonly<Record<string, string>>;
  login: Login | undefined;
  /** May hold credentials of its own. */
  proxy: string | undefined;
}

export interface Login {
  name: string;
  password: string;
}

export interface EndpointRules {
  proxy: string | undefined;
  /** Whether the bare name of a database may stand for one of this server. */
  localNames: boolean;
  /** `http`, `https`. */
  protocols: readonly string[];
}

/** What the specification of a replication has wrong: the interface answers 500 to it. */
const badSpec = (reason: string): RequestError => new RequestError('bad_rep_doc', reason);

/** Reads a source or target: an address, an object with one, or the name of a database. */
export function parseEndpoint(value: unknown, rules: EndpointRules): Endpoint {
  if (value === undefined) throw new RequestError('error', 'Missing replicator database');
  if (typeof value === 'string') {
    if (/^https?:\/\//i.test(value)) return remote(value, {}, undefined, rules);
    if (!rules.localNames) throw badSpec('local_endpoints_not_supported');
    if (value === '' || value.includes('://')) throw badSpec('endpoint has an invalid url');
    return { kind: 'local', name: value.replace(/\/$/, '') };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badSpec('A source or target must be an address or an object.');
  const { url, headers = {}, auth } = value as Record<string, unknown>;
  if (url === undefined) throw new RequestError('invalid_replication', 'endpoint has an invalid url');
  if (typeof url !== 'string') throw badSpec('endpoint has an invalid url');
  return remote(url, headers, auth, rules);
}

function remote(text: string, headers: unknown, auth: unknown, rules: EndpointRules): RemoteEndpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !rules.protocols.includes(url.protocol.slice(0, -1)) || url.pathname === '/')
    throw badSpec('endpoint has an invalid url');
  if (url.search !== '' || url.hash !== '') throw badSpec('endpoint has an invalid url');
  const inUrl =
    url.username === '' ? undefined : { name: decode(url.username), password: decode(url.password) };
  url.username = url.password = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  const read = readHeaders(headers);
  const login = readAuth(auth) ?? inUrl ?? read.login;
  return { kind: 'remote', url: url.href, headers: read.headers, login, proxy: rules.proxy };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badSpec('endpoint has an invalid url');
  }
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Credentials of the plain kind are taken out: they may be turned into a session. */
function readHeaders(value: unknown): { headers: Record<string, string>; login: Login | undefined } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badSpec('The headers of an endpoint must be an object.');
  const headers: Record<string, string> = {};
  let login: Login | undefined;
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string' || !headerName.test(name) || /[\0\r\n]/.test(text))
      throw badSpec(`The header ${name} of an endpoint is invalid.`);
    const basic = name.toLowerCase() === 'authorization' ? readBasic(text) : undefined;
    if (basic === undefined) headers[name.toLowerCase()] = text;
    else login = basic;
  }
  return { headers, login };
}

function readBasic(header: string): Login | undefined {
  const encoded = /^Basic\s+([A-Za-z0-9+/=_-]+)\s*$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return name === undefined ? undefined : { name, password: password! };
}

/** As in CouchDB, what is no complete `basic` says nothing: the address or the headers may have a login. */
function readAuth(auth: unknown): Login | undefined {
  if (auth === undefined) return undefined;
  if (typeof auth !== 'object' || auth === null || Array.isArray(auth))
    throw badSpec('The `auth` of an endpoint must be an object.');
  const { username, password } = ((auth as { basic?: unknown }).basic ?? {}) as Record<string, unknown>;
  return typeof username === 'string' && typeof password === 'string'
    ? { name: username, password }
    : undefined;
}

/** Reads the address of a proxy. */
export function parseProxy(name: string, value: unknown, protocols: readonly string[]): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || url.hostname === '' || !protocols.includes(url.protocol.slice(0, -1)))
    throw badRequest(`parameter \`${name}\` must be an address beginning with ${protocols.join(' or ')}`);
  return url.href;
}

/** How an endpoint is called in answers, tasks and logs. */
export const addressOf = (endpoint: Endpoint): string =>
  endpoint.kind === 'local' ? endpoint.name : endpoint.url;

/** A proxy's address without its credentials; null where there is none. */
export function proxyAddressOf(endpoint: Endpoint): string | null {
  if (endpoint.kind === 'local' || endpoint.proxy === undefined) return null;
  const url = new URL(endpoint.proxy);
  url.username = url.password = '';
  return url.href.replace(/\/$/, '');
}

/** An address as it was written, without what may be a login: also where it is no address at all. */
export const withoutLogin = (text: string): string => text.replace(/^([a-z0-9+.-]+:\/\/)[^/]*@/i, '$1');
