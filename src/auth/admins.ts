import { badRequest } from '../base/errors.js';
import type { ChangeOptions, Config } from '../config/config.js';
import { parseHash, type PasswordHasher } from './passwords.js';

export function hasAdmin(config: Config): boolean {
  return Object.values(config.section('admins')).some((value) => value !== '');
}

/** Makes a server admin or changes the password of one. Gives the old hash, or the empty text for a new admin. */
export async function setAdmin(
  config: Config,
  hasher: PasswordHasher,
  name: string,
  password: string,
  change: ChangeOptions = {},
): Promise<string> {
  return config.set('admins', name, await adminHash(config, hasher, password), change);
}

/** What has the form of a hash is kept as it is, as CouchDB does; all else is a password. */
export async function adminHash(config: Config, hasher: PasswordHasher, password: string): Promise<string> {
  if (password === '') throw badRequest('The password must not be empty.');
  return parseHash(password) === undefined ? await hash(config, hasher, password) : password;
}

/**
 * Replaces admin passwords in clear text by their hashes: in hand-written files in place, in what the command line and
 * the environment gave in memory. To be called before the first request. Gives the files that could not be changed.
 */
export async function hashPlainAdmins(
  config: Config,
  hasher: PasswordHasher,
): Promise<{ unwritable: string[] }> {
  return config.rewriteSection('admins', async (value) =>
    value === '' || parseHash(value) !== undefined ? undefined : hash(config, hasher, value),
  );
}

/** Reloads the configuration files and hashes passwords that were added to them in plain text. */
export async function reloadConfig(
  config: Config,
  hasher: PasswordHasher,
): Promise<{ unwritable: string[] }> {
  config.reload();
  return hashPlainAdmins(config, hasher);
}

function hash(config: Config, hasher: PasswordHasher, password: string): Promise<string> {
  return hasher.hash(password, config.number('chttpd_auth/iterations'));
}
