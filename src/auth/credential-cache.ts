import { hash } from 'node:crypto';
import { BoundedMap } from '../base/bounded-map.js';
import type { Runtime } from '../base/runtime.js';

/**
 * The users of credentials that were verified before, so that only the first request of a client pays for it.
 * Credentials are kept as digests under a key of this process alone: a dump of the memory does not reveal passwords.
 */
export class CredentialCache<Entry> extends BoundedMap<string, Entry> {
  readonly #processKey: string;

  constructor(sizeMax: () => number, runtime: Runtime) {
    super(sizeMax);
    this.#processKey = runtime.randomBytes(32).toString('base64');
  }

  digest(credentials: string): string {
    return hash('sha256', this.#processKey + credentials, 'base64');
  }
}
