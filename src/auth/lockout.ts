import { hash } from 'node:crypto';
import { RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { Config } from '../config/config.js';

interface Failures {
  count: number;
  /** In milliseconds. */
  until: number;
}

/**
 * Failed logins, counted for each sender, name and password that is to be guessed: a client that fails too often has to
 * wait, and cannot keep clients at other addresses from logging in. A new password begins a new count. Names that don't
 * exist are counted too, so that attackers cannot learn which do.
 */
export class Lockout {
  /** By digest, since names are as long as a client likes; the oldest first. */
  readonly #failures = new Map<string, Failures>();
  readonly #key: string;

  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
    private readonly runtime: Runtime,
  ) {
    this.#key = runtime.randomBytes(16).toString('base64');
  }

  /** Throws if the client is locked out. */
  check(sender: string, name: string, fingerprint?: string): void {
    if (!this.#isLocked(this.#digest(sender, name, fingerprint))) return;
    throw new RequestError(
      'forbidden',
      'Account is temporarily locked due to multiple authentication failures',
    );
  }

  /** `fingerprint` is that of the account, undefined where there is none. */
  failed(sender: string, name: string, fingerprint?: string): void {
    const mode = this.config.choice('chttpd_auth_lockout/mode');
    if (mode === 'off') return;
    const digest = this.#digest(sender, name, fingerprint);
    const threshold = this.config.number('chttpd_auth_lockout/threshold');
    const before = this.#current(digest);
    const until =
      before?.until ?? this.runtime.now() + this.config.number('chttpd_auth_lockout/max_lifetime');
    const count = (before?.count ?? 0) + 1;
    this.#failures.delete(digest);
    this.#failures.set(digest, { count, until });
    if (count === threshold) {
      this.logger.warn({ sender, name: name.slice(0, nameCharsLogged), mode }, 'too many failed logins');
    }
    this.#makeRoom();
  }

  #isLocked(digest: string): boolean {
    if (this.config.choice('chttpd_auth_lockout/mode') !== 'enforce') return false;
    const failures = this.#current(digest);
    return failures !== undefined && failures.count >= this.config.number('chttpd_auth_lockout/threshold');
  }

  #current(digest: string): Failures | undefined {
    const failures = this.#failures.get(digest);
    if (failures === undefined || failures.until > this.runtime.now()) return failures;
    this.#failures.delete(digest);
    return undefined;
  }

  #makeRoom(): void {
    for (const digest of this.#failures.keys()) {
      if (this.#failures.size <= this.config.number('chttpd_auth_lockout/max_objects')) return;
      this.#failures.delete(digest);
    }
  }

  #digest(sender: string, name: string, fingerprint = ''): string {
    return hash('sha256', this.#key + JSON.stringify([sender, name, fingerprint]), 'base64');
  }
}

const nameCharsLogged = 100;
