import { badRequest, Refusal } from '../base/errors.js';
import type { Config } from '../config/config.js';
import { CredentialCache } from './credential-cache.js';
import { parseHash, verifyPassword, type PasswordHash } from './passwords.js';
import { anonymous, serverAdmin, type UserContext } from '../base/user-context.js';

/** Passwords being verified at once, waiting ones included; each costs milliseconds of a processor. */
const pendingMax = 1000;

/**
 * Tells from the `Authorization` header who is asking. Known credentials are answered at once and without a promise;
 * others are verified off the serving thread, several requests with the same credentials together.
 */
export class Authenticator {
  private readonly cache: CredentialCache<UserContext>;
  private readonly pending = new Map<string, Promise<UserContext>>();
  /** Raised by each change of what credentials are worth: a verification that began before is not kept. */
  private generation = 0;
  private readonly stopListening: (() => void)[];

  constructor(private readonly config: Config) {
    this.cache = new CredentialCache(() => config.number('chttpd_auth/auth_cache_size'));
    this.stopListening = ['admins', 'chttpd_auth'].map((section) =>
      config.onChange(section, undefined, () => this.forget()),
    );
  }

  /** Refuses wrong credentials. Without a header, or with a scheme that isn't known, the user is anonymous. */
  authenticate(header: string | undefined): UserContext | Promise<UserContext> {
    if (header === undefined || !header.startsWith('Basic ')) return anonymous;
    const digest = this.cache.digest(header);
    return this.cache.get(digest) ?? this.pending.get(digest) ?? this.begin(header, digest);
  }

  forget(): void {
    this.generation++;
    this.cache.clear();
    this.pending.clear();
  }

  close(): void {
    for (const stop of this.stopListening) stop();
    this.forget();
  }

  private begin(header: string, digest: string): UserContext | Promise<UserContext> {
    const credentials = decodeBasic(header.slice('Basic '.length).trim());
    if (credentials === undefined) return anonymous;
    if (this.pending.size >= pendingMax) {
      throw new Refusal('service_unavailable', 'Too many logins are being checked; try again later.');
    }
    const verification = this.verify(credentials.name, credentials.password, digest).finally(() => {
      if (this.pending.get(digest) === verification) this.pending.delete(digest);
    });
    this.pending.set(digest, verification);
    return verification;
  }

  private async verify(name: string, password: string, digest: string): Promise<UserContext> {
    const { generation } = this;
    const stored = parseHash(this.config.get('admins', name) ?? '');
    if (stored) this.checkIterations(stored);
    // An unknown name takes as long as a known one, so that the time of an answer doesn't give names away.
    const matches = await verifyPassword(password, stored ?? this.decoy());
    if (!stored || !matches) throw new Refusal('unauthorized', 'Name or password is incorrect.');
    const user = serverAdmin(name);
    if (generation === this.generation) this.cache.put(digest, user);
    return user;
  }

  private checkIterations({ pbkdf2Digest, iterations }: PasswordHash): void {
    if (pbkdf2Digest === null) return;
    if (iterations < this.config.number('chttpd_auth/min_iterations')) {
      throw new Refusal('forbidden', 'Iteration count is too low for this server');
    }
    if (iterations > this.config.number('chttpd_auth/max_iterations')) {
      throw new Refusal('forbidden', 'Iteration count is too high for this server');
    }
  }

  private decoy(): PasswordHash {
    const iterations = this.config.number('chttpd_auth/iterations');
    return { pbkdf2Digest: 'sha1', hash: Buffer.alloc(20), salt: 'decoy', iterations };
  }
}

/** Name and password of a Basic header; undefined for what CouchDB takes as no login at all. */
function decodeBasic(encoded: string): { name: string; password: string } | undefined {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(encoded)) {
    throw badRequest('The credentials of the Authorization header are not base64.');
  }
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  // `_:_` is how CouchDB's clients say that they want no login.
  if (colon < 0 || text === '_:_') return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
