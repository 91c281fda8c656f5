import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { Config } from '../config/config.js';

/** Where accounts are kept: the name of the database, and the ids in it. */
export const userIdPrefix = 'org.couchdb.user:';

export const userIdOf = (name: string): Bytes => asBytes(userIdPrefix + toBytes(name));

/** The database that users are looked up in. */
export function usersDatabase(config: Config): string {
  return config.text('chttpd_auth/authentication_db') || config.text('chttpd_auth/users_db_suffix');
}

/** Whether a database keeps the rules of user documents: every one of that name, also behind a slash. */
export function holdsUsers(config: Config, name: string): boolean {
  if (name === usersDatabase(config)) return true;
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last === '_users' || last === config.text('chttpd_auth/users_db_suffix');
}

/** What others may see of user documents; nothing unless the configuration opens it. */
export function publicFields(config: Config): ReadonlySet<string> {
  if (!config.boolean('chttpd_auth/users_db_public')) return noFields;
  const names = config.text('chttpd_auth/public_fields').split(',');
  return new Set(names.map((each) => each.trim()).filter((each) => each !== ''));
}

const noFields: ReadonlySet<string> = new Set();
