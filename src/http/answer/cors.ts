import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config.js';
import type { Value } from '../../config/parse-value.js';
import type { OptionName, TextName } from '../../config/schema.js';
import { headerOf } from '../request/header.js';

/** A flat list of names and values. */
type Headers = (string | number)[];

/**
 * Which pages of other origins may use the server, and how. A browser asks before it sends what a plain form could not
 * (the preflight), and shows an answer to a page only where the answer names the page's origin. Clients other than
 * browsers are not concerned: this replaces no rights.
 *
 * `[cors:HOST]` replaces options of `[cors]` for requests to that host, as in CouchDB, and `[cors:ORIGIN]`, with a scheme,
 * for pages of that origin, which comes first.
 */
export class CorsPolicy {
  readonly #rules: CorsRules;
  readonly #variants = new Map<string, CorsRules>();

  constructor(
    config: Config,
    private readonly hostOf: (request: IncomingMessage) => string,
  ) {
    this.#rules = new CorsRules(config);
    for (const section of config.variants('cors')) {
      this.#variants.set(section.slice('cors:'.length).toLowerCase(), new CorsRules(config, section));
    }
  }

  /** Whether the page that asks may use the server. */
  allows(request: IncomingMessage): boolean {
    return this.#rulesFor(request).allows(headerOf(request, 'origin'));
  }

  /** Adds what an answer needs to be shown to the page that asked, to a flat list of headers. */
  mark(request: IncomingMessage, list: Headers): void {
    vary(list);
    const origin = headerOf(request, 'origin');
    if (origin !== undefined) this.#rulesFor(request).mark(origin, list);
  }

  /** What a browser that asks first is told beyond the above; undefined where the answer is no, or nothing was asked. */
  preflight(request: IncomingMessage): Record<string, string> | undefined {
    const rules = this.#rulesFor(request);
    if (!rules.allows(headerOf(request, 'origin'))) return undefined;
    return rules.preflight(
      headerOf(request, 'access-control-request-method'),
      headerOf(request, 'access-control-request-headers') ?? '',
    );
  }

  #rulesFor(request: IncomingMessage): CorsRules {
    if (this.#variants.size === 0) return this.#rules;
    const host = this.hostOf(request).toLowerCase();
    return (
      this.#variants.get(headerOf(request, 'origin') ?? '') ??
      this.#variants.get(host) ??
      this.#variants.get(host.replace(/:\d*$/, '')) ??
      this.#rules
    );
  }
}

/** The rules of `[cors]`, or of a section that replaces some of its options. */
class CorsRules {
  readonly #any: boolean;
  readonly #origins: ReadonlySet<string>;
  readonly #methods: readonly string[];
  readonly #headers: ReadonlySet<string>;
  readonly #credentials: boolean;
  readonly #maxAge: string;
  readonly #exposed: string;

  constructor(config: Config, section?: string) {
    const own = (name: OptionName): Value | undefined =>
      section === undefined ? undefined : config.variantValue(section, name);
    const list = (name: TextName): string[] => listOf((own(name) as string | undefined) ?? config.text(name));
    this.#origins = new Set(list('cors/origins'));
    this.#any = this.#origins.has('*');
    this.#credentials = (own('cors/credentials') ?? config.boolean('cors/credentials')) === true;
    this.#maxAge = String(own('cors/max_age') ?? config.number('cors/max_age'));
    const methods = list('cors/methods').map((method) => method.toUpperCase());
    this.#methods = methods.length > 0 ? methods : allMethods;
    const headers = list('cors/headers').map((name) => name.toLowerCase());
    this.#headers = new Set(headers.length > 0 ? headers : sentHeaders);
    const exposed = list('cors/exposed_headers').map((name) => name.toLowerCase());
    this.#exposed = [...simpleHeaders, ...(exposed.length > 0 ? exposed : readHeaders)].join(', ');
  }

  allows(origin: string | undefined): boolean {
    return origin !== undefined && (this.#any || this.#origins.has(origin));
  }

  mark(origin: string, list: Headers): void {
    if (!this.allows(origin)) return;
    list.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', this.#exposed);
    if (this.#credentials) list.push('Access-Control-Allow-Credentials', 'true');
  }

  preflight(method: string | undefined, wanted: string): Record<string, string> | undefined {
    if (method === undefined || !this.#methods.includes(method)) return undefined;
    if (!namesOf(wanted).every((name) => this.#headers.has(name.toLowerCase()))) return undefined;
    return {
      'Access-Control-Allow-Methods': this.#methods.join(', '),
      'Access-Control-Allow-Headers': wanted,
      'Access-Control-Max-Age': this.#maxAge,
    };
  }
}

/** A cache must not show one origin's answer to another. */
function vary(list: Headers): void {
  const at = list.indexOf('Vary');
  if (at < 0) list.push('Vary', 'Origin');
  else list[at + 1] = `${list[at + 1]}, Origin`;
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** The names of a request's list: as in CouchDB, commas at its end are ignored, and a missing name elsewhere is refused. */
const namesOf = (text: string): string[] => {
  const names = text.replace(/[\s,]+$/, '');
  return names === '' ? [] : names.split(',').map((each) => each.trim());
};

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
