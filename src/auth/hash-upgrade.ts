import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { Logger } from '../base/logger.js';
import { serverAdminRole } from '../base/user-context.js';
import type { Config } from '../config/config.js';
import { changeWinner } from '../documents/change-winner.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Account, Accounts } from './accounts.js';
import { digestOf } from './passwords.js';
import { isServerAdmin } from './rights.js';
import { userIdOf, usersDatabase } from './users-database.js';

/**
 * Hashes a user's password again at a login, if the stored hash is weaker than new ones would be. The salt stays: it is part
 * of the key of session cookies, and the password is the same.
 */
export class HashUpgrade {
  constructor(
    private readonly config: Config,
    private readonly accounts: Accounts,
    private readonly registry: () => DatabaseRegistry,
    private readonly logger: Logger,
  ) {}

  isDue({ hash, user }: Account): boolean {
    if (!this.config.boolean('chttpd_auth/upgrade_hash_on_auth')) return false;
    if (hash === undefined || isServerAdmin(user)) return false;
    const wanted = digestOf(this.config.text('chttpd_auth/pbkdf2_prf'));
    if (wanted === undefined) return false;
    return (
      hash.pbkdf2Digest !== wanted.name || hash.iterations < this.config.number('chttpd_auth/iterations')
    );
  }

  /**
   * Saves the document with the password that was verified against the account, unless the account has changed since: the
   * password may be an older one by now. The login counts in any case. Tells whether the hash is the new one.
   */
  async run(account: Account, password: string): Promise<boolean> {
    const { name } = account.user;
    try {
      return name !== null && (await this.#save(name, account, password));
    } catch (error) {
      this.logger.warn({ user: name, error: String(error) }, 'could not upgrade a password hash');
      return false;
    }
  }

  async #save(name: string, { fingerprint }: Account, password: string): Promise<boolean> {
    const registry = this.registry();
    const database = registry.find(usersDatabase(this.config));
    const id = userIdOf(name);
    // In the turn in which the document is read: a later change of it is a conflict.
    if (this.accounts.find(name)?.fingerprint !== fingerprint) return false;
    const found = database?.collection.winner(id);
    if (database === undefined || found === undefined || found.deleted) return false;
    const member = `"preserve_salt":true,"password":${toBytes(JSON.stringify(password.toWellFormed()))}`;
    const change = (body: Bytes): Bytes => asBytes(`{${member}${body === '{}' ? '}' : `,${body.slice(1)}`}`);
    await changeWinner(registry, database, id, found, change, { name: null, roles: [serverAdminRole] });
    return true;
  }
}
