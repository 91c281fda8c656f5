import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config.js';
import { headerOf } from '../request/header.js';

/**
 * Which pages of other origins may use the server, and how. A browser asks before it sends what a plain form could not
 * (the preflight), and shows an answer to a page only where the answer names the page's origin. Who is no browser is not
 * concerned: this replaces no rights.
 */
export class CorsPolicy {
  readonly #any: boolean;
  readonly #origins: ReadonlySet<string>;
  readonly #methods: readonly string[];
  readonly #headers: ReadonlySet<string>;
  readonly #credentials: boolean;
  readonly #maxAge: string;
  readonly #exposed: string;

  constructor(config: Config) {
    this.#origins = new Set(listOf(config.text('cors/origins')));
    this.#any = this.#origins.has('*');
    this.#credentials = config.boolean('cors/credentials');
    this.#maxAge = String(config.number('cors/max_age'));
    const methods = listOf(config.text('cors/methods')).map((method) => method.toUpperCase());
    this.#methods = methods.length > 0 ? methods : allMethods;
    const headers = listOf(config.text('cors/headers')).map((name) => name.toLowerCase());
    this.#headers = new Set(headers.length > 0 ? headers : sentHeaders);
    const exposed = listOf(config.text('cors/exposed_headers')).map((name) => name.toLowerCase());
    this.#exposed = [...simpleHeaders, ...(exposed.length > 0 ? exposed : readHeaders)].join(', ');
  }

  /** Whether the page that asks may use the server. */
  allows(request: IncomingMessage): boolean {
    return this.#allowedOrigin(request) !== undefined;
  }

  /** Adds what an answer needs to be shown to the page that asked, to a flat list of headers. */
  mark(request: IncomingMessage, list: (string | number)[]): void {
    vary(list);
    const origin = this.#allowedOrigin(request);
    if (origin === undefined) return;
    list.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', this.#exposed);
    if (this.#credentials) list.push('Access-Control-Allow-Credentials', 'true');
  }

  /** What a browser that asks first is told beyond the above; undefined where the answer is no, or nothing was asked. */
  preflight(request: IncomingMessage): Record<string, string> | undefined {
    if (this.#allowedOrigin(request) === undefined) return undefined;
    const method = headerOf(request, 'access-control-request-method');
    if (method === undefined || !this.#methods.includes(method)) return undefined;
    const wanted = headerOf(request, 'access-control-request-headers') ?? '';
    if (!listOf(wanted).every((name) => this.#headers.has(name.toLowerCase()))) return undefined;
    return {
      'Access-Control-Allow-Methods': this.#methods.join(', '),
      'Access-Control-Allow-Headers': wanted,
      'Access-Control-Max-Age': this.#maxAge,
    };
  }

  #allowedOrigin(request: IncomingMessage): string | undefined {
    const origin = headerOf(request, 'origin');
    return origin !== undefined && (this.#any || this.#origins.has(origin)) ? origin : undefined;
  }
}

/** A cache must not show one origin's answer to another. */
function vary(list: (string | number)[]): void {
  const at = list.indexOf('Vary');
  if (at < 0) list.push('Vary', 'Origin');
  else list[at + 1] = `${list[at + 1]}, Origin`;
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

const allMethods = ['CONNECT', 'COPY', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'TRACE'];

/** What clients of the interface send. */
const sentHeaders = [
  'accept',
  'accept-language',
  'authorization',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-range',
  'content-type',
  'destination',
  'expires',
  'if-match',
  'if-none-match',
  'last-modified',
  'origin',
  'pragma',
  'prefer',
  'range',
  'referer',
  'x-couch-full-commit',
  'x-couch-id',
  'x-couch-persist',
  'x-couchdb-www-authenticate',
  'x-csrf-token',
  'x-http-method-override',
  'x-requested-with',
  'x-svc-full-commit',
  'x-svc-id',
  'x-svc-persist',
];

const simpleHeaders = ['cache-control', 'content-type'];

/** What they read. */
const readHeaders = [
  'accept-ranges',
  'content-encoding',
  'content-length',
  'content-md5',
  'content-range',
  'etag',
  'location',
  'server',
  'x-couch-id',
  'x-couch-request-id',
  'x-couch-update-newrev',
  'x-request-id',
  'x-svc-id',
  'x-svc-update-newrev',
];
