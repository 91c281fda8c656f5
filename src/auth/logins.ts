import { RequestError, Unavailable } from '../base/errors.js';
import type { Config } from '../config/config.js';
import type { Account, Accounts } from './accounts.js';
import type { Lockout } from './lockout.js';
import { digestOf, type PasswordHash, type PasswordHasher } from './passwords.js';
import { isServerAdmin } from './rights.js';
import { readTotp, verifyToken } from './totp.js';

/** The credentials of a login. */
export interface Credentials {
  name: string;
  password: string;
  /** A one-time password, empty where none was sent; undefined for ways in that have no place for one. */
  token: string | undefined;
}

/** Passwords being verified at once, waiting ones included; each costs milliseconds of a processor. */
const pendingMax = 1000;

/**
 * Checks names and passwords, off the serving thread. Logins of one name from one place are checked one after the
 * other, so that a flood of guesses meets the lock that its first ones have brought about.
 */
export class Logins {
  readonly #last = new Map<string, Promise<unknown>>();
  #pending = 0;

  constructor(
    private readonly config: Config,
    private readonly accounts: Accounts,
    private readonly lockout: Lockout,
    private readonly hasher: PasswordHasher,
    private readonly now: () => number,
  ) {}

  /** The account, if the credentials are its own; refuses otherwise, in the same words and time for all names. */
  async verify(credentials: Credentials, sender: string): Promise<Account> {
    if (this.#pending >= pendingMax) {
      throw new Unavailable('Too many logins are being checked; try again later.');
    }
    this.#pending++;
    const key = `${sender} ${credentials.name}`;
    const before = this.#last.get(key);
    const work =
      before === undefined ? this.#check(credentials, sender) : this.#after(before, credentials, sender);
    this.#last.set(key, work);
    try {
      return await work;
    } finally {
      this.#pending--;
      if (this.#last.get(key) === work) this.#last.delete(key);
    }
  }

  async #after(before: Promise<unknown>, credentials: Credentials, sender: string): Promise<Account> {
    await before.catch(() => {});
    return await this.#check(credentials, sender);
  }

  async #check({ name, password, token }: Credentials, sender: string): Promise<Account> {
    const account = this.accounts.find(name);
    this.lockout.check(sender, name, account?.fingerprint);
    const stored = account?.hash;
    if (account !== undefined) this.checkIterations(account);
    // An unknown name takes as long as a known one, so that the time of an answer doesn't give names away.
    const quick = stored?.pbkdf2Digest === null;
    const [matches] = await Promise.all([
      this.hasher.verify(password, stored ?? this.#decoy()),
      quick ? this.hasher.verify(password, this.#decoy()) : undefined,
    ]);
    if (account !== undefined && stored && matches && this.#isSecondFactor(account, token)) return account;
    // A program that goes on sending a password alone must not lock out the user who has a token.
    const isHopeless = account?.totp !== undefined && token === undefined;
    if (!isHopeless) this.lockout.failed(sender, name, account?.fingerprint);
    throw new RequestError('unauthorized', 'Name or password is incorrect.');
  }

  /** Whether the token is the right one, or none is required. False if the stored secret can't be read. */
  #isSecondFactor({ totp }: Account, token: string | undefined): boolean {
    if (totp === undefined) return true;
    if (token === undefined) return false;
    const wanted = readTotp(totp);
    return !('wrong' in wanted) && verifyToken(wanted, token, this.now());
  }

  /**
   * Refuses users whose hashes were made with too few or too many iterations. Server admins are exempt: they must be able
   * to log in to correct the bounds.
   */
  checkIterations({ hash, user }: Account): void {
    if (hash === undefined || hash.pbkdf2Digest === null || isServerAdmin(user)) return;
    const { iterations } = hash;
    if (iterations < this.config.number('chttpd_auth/min_iterations')) {
      throw new RequestError('forbidden', 'Iteration count is too low for this server');
    }
    if (iterations > this.config.number('chttpd_auth/max_iterations')) {
      throw new RequestError('forbidden', 'Iteration count is too high for this server');
    }
  }

  #decoy(): PasswordHash {
    const digest = digestOf(this.config.text('chttpd_auth/pbkdf2_prf')) ?? digestOf('sha256')!;
    const iterations = this.config.number('chttpd_auth/iterations');
    return { pbkdf2Digest: digest.name, hash: Buffer.alloc(digest.bytes), salt: 'decoy', iterations };
  }
}
