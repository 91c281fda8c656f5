import { Refusal } from '../base/errors.js';
import type { Config } from '../config/config.js';
import type { Account, Accounts } from './accounts.js';
import type { Lockout } from './lockout.js';
import { digestOf, verifyPassword, type PasswordHash } from './passwords.js';

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
  ) {}

  /** The account, if the password is its own; refuses otherwise, in the same words and time for all names. */
  async verify(name: string, password: string, sender: string): Promise<Account> {
    if (this.#pending >= pendingMax) {
      throw new Refusal('service_unavailable', 'Too many logins are being checked; try again later.');
    }
    this.#pending++;
    const key = `${sender} ${name}`;
    const before = this.#last.get(key);
    const work =
      before === undefined
        ? this.#check(name, password, sender)
        : this.#after(before, name, password, sender);
    this.#last.set(key, work);
    try {
      return await work;
    } finally {
      this.#pending--;
      if (this.#last.get(key) === work) this.#last.delete(key);
    }
  }

  async #after(before: Promise<unknown>, name: string, password: string, sender: string): Promise<Account> {
    await before.catch(() => {});
    return await this.#check(name, password, sender);
  }

  async #check(name: string, password: string, sender: string): Promise<Account> {
    this.lockout.check(sender, name);
    const account = this.accounts.find(name);
    const stored = account?.hash;
    if (stored) this.checkIterations(stored);
    // An unknown name takes as long as a known one, so that the time of an answer doesn't give names away.
    const quick = stored?.pbkdf2Digest === null;
    const [matches] = await Promise.all([
      verifyPassword(password, stored ?? this.#decoy()),
      quick ? verifyPassword(password, this.#decoy()) : undefined,
    ]);
    if (account !== undefined && stored && matches) return account;
    this.lockout.failed(sender, name);
    throw new Refusal('unauthorized', 'Name or password is incorrect.');
  }

  /** Refuses hashes that were made with too few or too many steps. */
  checkIterations({ pbkdf2Digest, iterations }: PasswordHash): void {
    if (pbkdf2Digest === null) return;
    if (iterations < this.config.number('chttpd_auth/min_iterations')) {
      throw new Refusal('forbidden', 'Iteration count is too low for this server');
    }
    if (iterations > this.config.number('chttpd_auth/max_iterations')) {
      throw new Refusal('forbidden', 'Iteration count is too high for this server');
    }
  }

  #decoy(): PasswordHash {
    const digest = digestOf(this.config.text('chttpd_auth/pbkdf2_prf')) ?? digestOf('sha256')!;
    const iterations = this.config.number('chttpd_auth/iterations');
    return { pbkdf2Digest: digest.name, hash: Buffer.alloc(digest.bytes), salt: 'decoy', iterations };
  }
}
