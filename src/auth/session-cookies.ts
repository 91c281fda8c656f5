import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../base/errors.js';
import type { Runtime } from '../base/runtime.js';
import type { Config } from '../config/config.js';
import type { Account, Accounts } from './accounts.js';
import { digestOf } from './passwords.js';

/**
 * Session cookies, in the form that CouchDB has for them, so that servers with one secret and the same users accept
 * each other's:
 *
 *     base64url( name ":" seconds-in-hex ":" HMAC(secret + salt, name ":" seconds-in-hex) )
 *
 * Nothing is kept on the server. The user's own salt is part of the key, so a new password ends all sessions.
 */
const cookieName = 'AuthSession';

/** Generates the secret that signs cookies unless one is configured. It is stored, so that sessions survive a restart. */
export function ensureSecret(config: Config, runtime: Runtime): void {
  if (config.text('chttpd_auth/secret') === '') config.adopt('chttpd_auth', 'secret', runtime.randomHex(32));
}

export interface Session {
  account: Account;
  /** When it began or was renewed last, in milliseconds. */
  issued: number;
}

/** The digests by which cookies and tokens may be signed, the one that signs first. */
export function signingDigests(config: Config): string[] {
  const names = config.text('chttpd_auth/hash_algorithms').split(',');
  const known = names.flatMap((name) => digestOf(name.trim())?.name ?? []);
  return known.length === 0 ? ['sha256'] : known;
}

export class SessionCookies {
  constructor(
    private readonly config: Config,
    private readonly accounts: Accounts,
    private readonly now: () => number,
  ) {}

  get timeoutMs(): number {
    return this.config.number('chttpd_auth/timeout') * 1000;
  }

  /** The value of a cookie for a user; undefined for one without a password, whose key would lack its salt. */
  seal({ user, hash }: Account): string | undefined {
    if (hash === undefined) return undefined;
    const text = Buffer.from(
      `${user.name}:${Math.floor(this.now() / 1000)
        .toString(16)
        .toUpperCase()}`,
    );
    const mac = this.#mac(signingDigests(this.config)[0]!, hash.salt, text);
    return Buffer.concat([text, colon, mac]).toString('base64url');
  }

  /** The user of a session cookie; undefined if it is forged, expired or names no user. */
  open(value: string): Session | undefined {
    const { name, seconds, signed, mac } = parse(value);
    const issued = seconds * 1000;
    if (!(this.now() < issued + this.timeoutMs)) return undefined;
    const account = this.accounts.find(name);
    if (account?.hash === undefined) return undefined;
    const { salt } = account.hash;
    const fits = signingDigests(this.config).some((digest) => {
      const expected = this.#mac(digest, salt, signed);
      return expected.length === mac.length && timingSafeEqual(expected, mac);
    });
    return fits ? { account, issued } : undefined;
  }

  /** The header that sets a cookie, or with an empty value takes it away. */
  header(value: string, secure: boolean): string {
    const { config } = this;
    const seconds = config.number('chttpd_auth/timeout');
    const domain = config.text('chttpd_auth/cookie_domain');
    const sameSite = sameSites[config.text('chttpd_auth/same_site').toLowerCase()];
    return [
      `${cookieName}=${value}`,
      'Version=1',
      ...(config.boolean('chttpd_auth/allow_persistent_cookies')
        ? [`Expires=${cookieDate(this.now() + seconds * 1000)}`, `Max-Age=${seconds}`]
        : []),
      ...(secure ? ['Secure'] : []),
      ...(domainShape.test(domain) ? [`Domain=${domain}`] : []),
      'Path=/',
      'HttpOnly',
      ...(sameSite === undefined ? [] : [`SameSite=${sameSite}`]),
    ].join('; ');
  }

  #mac(digest: string, salt: string, text: Buffer): Buffer {
    return createHmac(digest, this.config.text('chttpd_auth/secret') + salt)
      .update(text)
      .digest();
  }
}

const colon = Buffer.from(':');
const domainShape = /^[A-Za-z0-9.-]+$/;
const sameSites: Readonly<Record<string, string | undefined>> = Object.assign(
  Object.create(null) as Record<string, string>,
  { none: 'None', lax: 'Lax', strict: 'Strict' },
);

interface Parts {
  name: string;
  seconds: number;
  /** What was signed: name and time. */
  signed: Buffer;
  mac: Buffer;
}

function parse(value: string): Parts {
  const bytes = /^[\w-]*$/.test(value) ? Buffer.from(value, 'base64url') : Buffer.alloc(0);
  const first = bytes.indexOf(0x3a);
  const second = first < 0 ? -1 : bytes.indexOf(0x3a, first + 1);
  const time = second < 0 ? '' : bytes.toString('latin1', first + 1, second);
  if (!/^[0-9A-Fa-f]{1,11}$/.test(time)) {
    throw badRequest('Malformed AuthSession cookie. Please clear your cookies.');
  }
  return {
    name: bytes.toString('utf8', 0, first),
    seconds: parseInt(time, 16),
    signed: bytes.subarray(0, second),
    mac: bytes.subarray(second + 1),
  };
}

/** `Sun, 15-Nov-2026 01:00:08 GMT`: the older form, which all clients read. */
function cookieDate(ms: number): string {
  return new Date(ms).toUTCString().replace(/^(\w+, \d+) (\w+) (\d+)/, '$1-$2-$3');
}

/** The value of our cookie in a `Cookie` header; undefined where it is missing or empty. */
export function sessionValue(header: string): string | undefined {
  for (let from = 0; ;) {
    const at = header.indexOf(`${cookieName}=`, from);
    if (at < 0) return undefined;
    const start = at + cookieName.length + 1;
    if (at === 0 || header[at - 1] === ' ' || header[at - 1] === ';') {
      const semicolon = header.indexOf(';', start);
      const value = header.slice(start, semicolon < 0 ? undefined : semicolon).trim();
      return value === '' ? undefined : value.replace(/^"(.*)"$/, '$1');
    }
    from = start;
  }
}
