import { fromBytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { serverAdminRole, type UserContext } from '../base/user-context.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Config } from '../config/config.js';
import { splitContent } from '../shard/content.js';
import { parseHash, type PasswordHash } from './passwords.js';
import { userHash } from './user-hash.js';
import { userIdOf, usersDatabase } from './users-database.js';

/** What is known of a user by name. */
export interface Account {
  user: UserContext;
  /** Undefined if the account has no password. */
  hash: PasswordHash | undefined;
  /** What the user document says of a second factor, whatever it is; undefined where none is asked for. */
  totp: unknown;
  /** The same for as long as the password and the second factor are. */
  fingerprint: string;
}

/** Looks users up by name: server admins in the configuration, all others in the users database. */
export class Accounts {
  /** Raised by everything that may change an account: what was found before has to be looked up again. */
  generation = 0;
  /** Called when that happens. */
  readonly listeners: (() => void)[] = [];
  #instance: number | undefined;
  readonly #stopListening: (() => void)[];

  constructor(
    private readonly config: Config,
    private readonly registry: () => Pick<DatabaseRegistry, 'find' | 'isClosing'>,
  ) {
    this.#stopListening = ['admins', 'chttpd_auth'].map((section) =>
      config.onChange(section, undefined, () => this.#changed()),
    );
  }

  /** Watches a registry for changes to accounts. Call it for each registry that is opened. */
  watch(registry: DatabaseRegistry): void {
    this.#changed();
    registry.watch({
      committed: (instance) => {
        if (instance === this.#instance) this.#raise();
      },
      catalogued: (name) => {
        if (name === usersDatabase(this.config)) this.#changed();
      },
    });
  }

  close(): void {
    for (const stop of this.#stopListening) stop();
  }

  /** Throws if the account's document is in conflict: which password counts would be arbitrary. */
  find(name: string): Account | undefined {
    const admin = this.config.get('admins', name) ?? '';
    const { doc, conflicted } = this.#document(name, admin !== '');
    const roles = doc === undefined ? [] : rolesOf(doc);
    if (admin !== '') {
      const all = [serverAdminRole, ...roles.filter((role) => role !== serverAdminRole)];
      const user = userContext(name, all);
      return { user, hash: parseHash(admin), totp: undefined, fingerprint: `admin ${admin}` };
    }
    if (doc === undefined) return undefined;
    if (conflicted) {
      throw new RequestError(
        'unauthorized',
        'The user document has conflicts, which must be resolved first.',
      );
    }
    const { password_scheme, pbkdf2_prf, salt, iterations, derived_key, password_sha, totp } = doc;
    const password = [password_scheme, pbkdf2_prf, salt, iterations, derived_key, password_sha];
    return {
      user: userContext(name, roles),
      hash: userHash(doc),
      totp,
      fingerprint: JSON.stringify(totp === undefined ? password : [...password, totp]),
    };
  }

  #document(name: string, isAdmin: boolean): { doc?: Record<string, unknown>; conflicted?: boolean } {
    // While the stores are opened again, server admins may look at how the server is.
    if (isAdmin && this.registry().isClosing) return {};
    const database = this.registry().find(usersDatabase(this.config));
    if (database === undefined) return {};
    this.#instance = database.record.instance;
    const { collection } = database;
    const id = userIdOf(name);
    const found = collection.winner(id);
    if (found === undefined || found.deleted) return {};
    const { body } = splitContent(collection.winnerBody(database.shardOf(id), found));
    const live = found.conflicted
      ? collection.doc(id)!.tree.filter(({ leaf, deleted }) => leaf && !deleted)
      : [];
    return { doc: JSON.parse(fromBytes(body)) as Record<string, unknown>, conflicted: live.length > 1 };
  }

  #changed(): void {
    this.#instance = undefined;
    this.#raise();
  }

  #raise(): void {
    this.generation++;
    for (const listener of this.listeners) listener();
  }
}

function rolesOf({ roles }: Record<string, unknown>): string[] {
  return Array.isArray(roles) ? roles.filter((role): role is string => typeof role === 'string') : [];
}

const userContext = (name: string, roles: string[]): UserContext =>
  Object.freeze({ name, roles: Object.freeze(roles) });
