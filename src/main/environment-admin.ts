import fs from 'node:fs';
import { StartupError } from '../base/startup-error.js';

/**
 * The server admin that the environment names, under this server's variables or CouchDB's. The `_FILE` variants are
 * for secrets that a container gets as files.
 */
export function environmentAdmin(environment: NodeJS.ProcessEnv): Record<string, string> {
  for (const prefix of ['TUFFET', 'COUCHDB']) {
    const name = variable(environment, `${prefix}_USER`);
    const password = variable(environment, `${prefix}_PASSWORD`);
    if (name === undefined && password === undefined) continue;
    if (name === undefined) throw new StartupError(`${prefix}_PASSWORD is set, but not ${prefix}_USER.`);
    if (password === undefined) throw new StartupError(`${prefix}_USER is set, but not ${prefix}_PASSWORD.`);
    return { [name]: password };
  }
  return {};
}

/** The value of a variable, or of the file that its `_FILE` variant names. */
export function variable(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = environment[name];
  if (value !== undefined && value !== '') return value;
  const file = environment[`${name}_FILE`];
  if (file === undefined || file === '') return undefined;
  try {
    return fs.readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    throw new StartupError(`${name}_FILE can't be read: ${(error as Error).message}`, { cause: error });
  }
}
