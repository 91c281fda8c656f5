import { asBytes, fromBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { gapOf, mergeChanges } from '../changes/merge-changes.js';
import type { Config } from '../config/config.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { currentPositions, firstPositions } from '../node/sequence.js';
import { decodeChange } from '../shard/change-record.js';
import { securityOfNew } from './system-databases.js';
import { usersDatabase } from './users-database.js';

const userPrefix = 'org.couchdb.user:';
const changesAtOnce = 50;

/**
 * Gives every user a database of their own (`[couch_peruser]`): follows the users database from its first change at each
 * start, makes the database of each user that has none, and gives access to this user only. What is there already stays.
 */
export class UserDatabases {
  #instance: number | undefined;
  #after: number[] = [];
  #running: Promise<void> | undefined;
  #isDirty = false;
  #closed = false;

  constructor(
    private readonly registry: DatabaseRegistry,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {
    const stopListening = ['couch_peruser', 'chttpd_auth'].map((section) =>
      config.onChange(section, undefined, () => this.#restart()),
    );
    registry.watch({
      committed: (instance) => {
        if (instance === this.#instance) this.#touch();
      },
      catalogued: (name) => {
        if (name === usersDatabase(config)) this.#restart();
      },
      closing: () => {
        this.#closed = true;
        for (const stop of stopListening) stop();
      },
    });
    this.#restart();
  }

  /** Looks at all users again. */
  #restart(): void {
    this.#instance = undefined;
    this.#touch();
  }

  #touch(): void {
    this.#isDirty = true;
    // In a cluster one node does this, and looks at all users when it has become that one.
    if (!this.registry.membership.isOwner) {
      this.#instance = undefined;
      return;
    }
    if (this.#closed || this.#running !== undefined || !this.config.boolean('couch_peruser/enable')) return;
    this.#running = this.#run()
      .catch((error: unknown) => {
        if (!this.#closed) this.logger.error({ err: error }, 'making databases of users failed');
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #run(): Promise<void> {
    // A commit is announced before readers see it.
    await new Promise<void>((resolve) => this.registry.runtime.defer(resolve));
    while (this.#isDirty && !this.#closed) {
      this.#isDirty = false;
      const users = this.registry.find(usersDatabase(this.config));
      if (users === undefined) return;
      if (users.record.instance !== this.#instance) this.#after = firstPositions(users);
      this.#instance = users.record.instance;
      await this.#follow(users);
    }
  }

  async #follow(users: Database): Promise<void> {
    for (;;) {
      const span = { after: this.#after, upTo: currentPositions(users), descending: false };
      if (this.#closed || this.#instance === undefined || gapOf(span) === 0) return;
      const { entries, ends } = mergeChanges(users, span, changesAtOnce);
      for (const { value } of entries) {
        const { id } = decodeChange(value);
        if (!this.#closed && id.startsWith(userPrefix))
          await this.#settle(users, id.slice(userPrefix.length));
      }
      for (const { shard, seq } of ends) this.#after[shard] = seq;
      await this.registry.runtime.nextTurn();
    }
  }

  /** One user that can't be given a database, for a name too long perhaps, does not keep others from theirs. */
  async #settle(users: Database, user: Bytes): Promise<void> {
    const isThere = users.collection.winner(asBytes(userPrefix + user))?.deleted === false;
    const name = `${this.config.text('couch_peruser/database_prefix')}${hexOf(user)}`;
    try {
      if (isThere) await this.#ensure(name, user);
      else if (this.config.boolean('couch_peruser/delete_dbs')) await this.#delete(name);
      else await this.#setNames(name, user, false);
    } catch (error) {
      this.logger.error(
        { err: error, database: name },
        'the database of a user could not be made or changed',
      );
    }
  }

  async #ensure(name: string, user: Bytes): Promise<void> {
    if (!this.registry.exists(name)) {
      const given = this.config.number('couch_peruser/q');
      const security = securityOfNew(this.config, name);
      await this.registry
        .createDatabase(name, { q: given, ...(security && { security }) })
        .catch((error: unknown) => {
          if (!(error instanceof RequestError && error.error === 'file_exists')) throw error;
        });
    }
    await this.#setNames(name, user, true);
  }

  async #delete(name: string): Promise<void> {
    if (this.registry.exists(name)) await this.registry.deleteDatabase(name);
  }

  /** Adds a user to the admins and members of a database, or takes them away; whatever else stands there stays. */
  async #setNames(name: string, user: Bytes, isIn: boolean): Promise<void> {
    const record = this.registry.record(name);
    if (record === undefined) return;
    const text = fromBytes(user);
    const security: Record<string, unknown> = { ...record.security };
    let isChanged = false;
    for (const group of ['admins', 'members']) {
      const value = (security[group] ?? {}) as Record<string, unknown>;
      const names = Array.isArray(value['names']) ? (value['names'] as unknown[]) : [];
      if (names.includes(text) === isIn) continue;
      isChanged = true;
      const others = names.filter((each) => each !== text);
      security[group] = { ...value, names: isIn ? [...others, text] : others };
    }
    if (isChanged) await this.registry.setDatabase({ name, record }, { security });
  }
}

/** CouchDB's form, in which a byte below 16 has one digit. */
const hexOf = (user: Bytes): string => Array.from(user, (byte) => byte.charCodeAt(0).toString(16)).join('');
