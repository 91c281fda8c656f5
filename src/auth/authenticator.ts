import { badRequest } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import { anonymous, type UserContext } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import type { Account, Accounts } from './accounts.js';
import type { RequestInfo } from './request-info.js';
import { CredentialCache } from './credential-cache.js';
import { readHandlers, type HandlerName } from './handlers.js';
import type { HashUpgrade } from './hash-upgrade.js';
import { JsonWebTokens } from './json-web-tokens.js';
import { Lockout } from './lockout.js';
import { Logins, type Credentials } from './logins.js';
import type { PasswordHasher } from './passwords.js';
import { ProxyHeaders } from './proxy-headers.js';
import { SessionCookies, sessionValue } from './session-cookies.js';

/** Who is asking, and by which way that is known. */
export interface Identity {
  readonly user: UserContext;
  /** Undefined for anonymous users. */
  readonly handler: HandlerName | undefined;
  /** With a session cookie: from when on it is to be renewed, in milliseconds. */
  readonly renewFrom?: number;
  /** With a token: beyond this moment it has to be verified again, in milliseconds. */
  readonly until?: number;
}

export const anonymousIdentity: Identity = Object.freeze({ user: anonymous, handler: undefined });

/** Credentials that were verified. */
interface Known {
  identity: Identity;
  /** Beyond this moment they count no longer, in milliseconds. */
  until: number;
  /** The account behind them, and when it was looked at last; undefined for users of a token. */
  account: { fingerprint: string; generation: number } | undefined;
}

type Found = Identity | undefined | Promise<Identity | undefined>;

/** Sessions and tokens remembered; without it they are verified again, which takes microseconds. */
const tokensMax = 10_000;
/** A token is looked at again after this time, since its key may have been taken back elsewhere. */
const tokenMs = 60_000;
/** A session cookie is renewed when this part of its time is over. */
const renewAfter = 0.1;
const renewalMs = 1_000;

/**
 * Tells from the headers of a request who is asking. Known credentials are answered at once and without a promise;
 * passwords are verified off the serving thread, several requests with the same ones together.
 */
export class Authenticator {
  readonly sessions: SessionCookies;
  /** Renews weak hashes. */
  upgrade: HashUpgrade | undefined;
  /** How often credentials had been verified before, and how often not. */
  readonly cacheCounts = { hits: 0, misses: 0 };
  #handlers: readonly HandlerName[] = [];
  readonly #logins: Logins;
  readonly #proxy: ProxyHeaders;
  readonly #tokens: JsonWebTokens;
  readonly #passwords: CredentialCache<Known>;
  readonly #signed: CredentialCache<Known>;
  readonly #renewals = new WeakMap<
    Identity,
    { header: string | undefined; secure: boolean; until: number }
  >();
  readonly #pending = new Map<string, Promise<Identity>>();
  /** Raised by each change of the configuration: a verification that began before is not kept. */
  #generation = 0;
  readonly #stopListening: (() => void)[];

  constructor(
    private readonly config: Config,
    private readonly accounts: Accounts,
    private readonly logger: Logger,
    private readonly runtime: Runtime,
    hasher: PasswordHasher,
  ) {
    const now = (): number => runtime.now();
    this.sessions = new SessionCookies(config, accounts, now);
    this.#logins = new Logins(config, accounts, new Lockout(config, logger, runtime), hasher, now);
    this.#proxy = new ProxyHeaders(config);
    this.#tokens = new JsonWebTokens(config, now);
    this.#passwords = new CredentialCache(() => config.number('chttpd_auth/auth_cache_size'), runtime);
    this.#signed = new CredentialCache(() => tokensMax, runtime);
    this.#readHandlers();
    this.#stopListening = [
      ...['chttpd_auth', 'jwt_auth', 'jwt_keys'].map((section) =>
        config.onChange(section, undefined, () => this.#forget()),
      ),
      config.onChange('chttpd', 'authentication_handlers', () => this.#readHandlers()),
    ];
  }

  get handlers(): readonly HandlerName[] {
    return this.#handlers;
  }

  /** Refuses wrong credentials. A request without credentials for any enabled handler is anonymous. */
  authenticate(asker: RequestInfo): Identity | Promise<Identity> {
    return this.#try(asker, 0);
  }

  /** Checks credentials that came in a body. */
  async login(credentials: Credentials, sender: string): Promise<Account> {
    const account = await this.#logins.verify(credentials, sender);
    if (this.upgrade?.isDue(account) !== true) return account;
    const isUpgraded = await this.upgrade.run(account, credentials.password);
    // A session belongs to the hash that the password was verified against, or made.
    return (isUpgraded ? this.accounts.find(credentials.name) : undefined) ?? account;
  }

  /** Whether a session cookie is to be renewed with this answer. */
  isDue({ renewFrom }: Identity): boolean {
    return renewFrom !== undefined && this.runtime.now() >= renewFrom;
  }

  /** The header that extends a session. Clients that ignore it get the same one for a while: making it costs a look-up. */
  renewal(identity: Identity, secure: boolean): string | undefined {
    const known = this.#renewals.get(identity);
    if (known !== undefined && known.secure === secure && this.runtime.now() < known.until)
      return known.header;
    const account = identity.user.name === null ? undefined : this.accounts.find(identity.user.name);
    const value = account && this.sessions.seal(account);
    const header = value && this.sessions.header(value, secure);
    this.#renewals.set(identity, { header, secure, until: this.runtime.now() + renewalMs });
    return header;
  }

  close(): void {
    for (const stop of this.#stopListening) stop();
    this.#forget();
    this.#passwords.clear();
  }

  #try(asker: RequestInfo, from: number): Identity | Promise<Identity> {
    for (let i = from; i < this.#handlers.length; i++) {
      const found = this.#ask(this.#handlers[i]!, asker);
      if (found instanceof Promise) return found.then((identity) => identity ?? this.#try(asker, i + 1));
      if (found !== undefined) return found;
    }
    return anonymousIdentity;
  }

  #ask(handler: HandlerName, asker: RequestInfo): Found {
    if (handler === 'cookie') return this.#byCookie(asker);
    if (handler === 'default') return this.#byPassword(asker);
    if (handler === 'jwt') return this.#byToken(asker);
    const user = this.#proxy.user(asker);
    return user && { user, handler };
  }

  #byCookie(asker: RequestInfo): Identity | undefined {
    const header = asker.header('cookie');
    const value = header === undefined ? undefined : sessionValue(header);
    if (value === undefined) return undefined;
    const digest = this.#signed.digest(value);
    const known = this.#known(this.#signed, digest);
    if (known !== undefined) return known;
    const session = this.sessions.open(value);
    if (session === undefined) return undefined;
    const { account, issued } = session;
    const { timeoutMs } = this.sessions;
    const renewFrom = issued + timeoutMs * renewAfter;
    const identity: Identity = { user: account.user, handler: 'cookie', renewFrom };
    this.#signed.set(digest, { identity, until: issued + timeoutMs, account: this.#seen(account) });
    return identity;
  }

  #byPassword(asker: RequestInfo): Found {
    const header = asker.header('authorization');
    if (header === undefined || !header.startsWith('Basic ')) return undefined;
    const digest = this.#passwords.digest(header);
    const known = this.#known(this.#passwords, digest);
    // Also where the name is locked: failed logins of others must not lock out clients whose password was verified.
    if (known !== undefined) return known;
    const credentials = decodeBasic(header.slice('Basic '.length).trim());
    if (credentials === undefined) return undefined;
    return this.#once(`${digest} ${asker.sender}`, async (isCurrent) => {
      const account = await this.login({ ...credentials, token: undefined }, asker.sender);
      const identity: Identity = { user: account.user, handler: 'default' };
      // The account may have changed while the password was verified: it is compared when it is used next.
      if (isCurrent()) {
        const seen = { fingerprint: account.fingerprint, generation: -1 };
        this.#passwords.set(digest, { identity, until: Infinity, account: seen });
      }
      return identity;
    });
  }

  #byToken(asker: RequestInfo): Found {
    const header = asker.header('authorization');
    if (header === undefined || !header.startsWith('Bearer ')) return undefined;
    const digest = this.#signed.digest(header);
    const known = this.#known(this.#signed, digest);
    if (known !== undefined) return known;
    return this.#once(digest, async (isCurrent) => {
      const { user, until } = await this.#tokens.user(header.slice('Bearer '.length).trim());
      const kept = Math.min(until, this.runtime.now() + tokenMs);
      const identity: Identity = { user, handler: 'jwt', until: kept };
      if (isCurrent()) this.#signed.set(digest, { identity, until: kept, account: undefined });
      return identity;
    });
  }

  /** What was found before, if it still holds. */
  #known(cache: CredentialCache<Known>, digest: string): Identity | undefined {
    const known = cache.get(digest);
    if (known === undefined) {
      this.cacheCounts.misses++;
      return undefined;
    }
    this.cacheCounts.hits++;
    const { account } = known;
    const current = account === undefined || account.generation === this.accounts.generation;
    if (known.until > this.runtime.now() && (current || this.#refresh(known))) return known.identity;
    cache.delete(digest);
    return undefined;
  }

  /** Accounts have changed: the roles may be others, and the password may be a new one. */
  #refresh(known: Known): boolean {
    const account = this.accounts.find(known.identity.user.name!);
    if (account === undefined || account.fingerprint !== known.account!.fingerprint) return false;
    this.#logins.checkIterations(account);
    known.identity = { ...known.identity, user: account.user };
    known.account = this.#seen(account);
    return true;
  }

  #seen({ fingerprint }: Account): NonNullable<Known['account']> {
    return { fingerprint, generation: this.accounts.generation };
  }

  /** Several requests that bring the same credentials at once wait for one verification. */
  #once(key: string, verify: (isCurrent: () => boolean) => Promise<Identity>): Promise<Identity> {
    const running = this.#pending.get(key);
    if (running !== undefined) return running;
    const generation = this.#generation;
    const work = verify(() => generation === this.#generation).finally(() => {
      if (this.#pending.get(key) === work) this.#pending.delete(key);
    });
    this.#pending.set(key, work);
    return work;
  }

  #readHandlers(): void {
    const { handlers, unknown } = readHandlers(this.config.text('chttpd/authentication_handlers'));
    this.#handlers = handlers;
    if (unknown.length > 0) this.logger.warn({ unknown }, 'authentication handlers that are not known');
    this.#forget();
  }

  /** Passwords stay known: the account behind each is looked at again when anything has changed. */
  #forget(): void {
    this.#generation++;
    this.#signed.clear();
    this.#pending.clear();
    this.#tokens.forget();
  }
}

/** Name and password of a Basic header; undefined for what CouchDB takes as no login at all. */
function decodeBasic(encoded: string): { name: string; password: string } | undefined {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) {
    throw badRequest('Authorization header has invalid base64 value');
  }
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  // `_:_` is how CouchDB's clients say that they want no login.
  if (colon < 0 || text === '_:_') return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
