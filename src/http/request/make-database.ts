import { addAuthDesign } from '../../auth/auth-design.js';
import { badRequest, RequestError } from '../../base/errors.js';
import { isSystemName, securityOfNew } from '../../auth/system-databases.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Config } from '../../config/config.js';

const nameRule = /^[a-z][a-z0-9_$()+/-]*$/;
const nameBytesMax = 238;

/** Whether every server takes the name: one that is not a system database's. */
export const isPlainDatabaseName = (name: string): boolean =>
  nameRule.test(name) && name.length <= nameBytesMax;

export function checkDatabaseName(config: Config, name: string): void {
  if (isPlainDatabaseName(name)) return;
  if (nameRule.test(name)) {
    throw new RequestError('database_name_too_long', `At least one path segment of \`${name}\` is too long.`);
  }
  if (isSystemName(config, name) && nameRule.test(name.slice(1))) return;
  throw new RequestError(
    'illegal_database_name',
    `Name: '${name}'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, -, and / are allowed. Must begin with a letter.`,
  );
}

/** What a request, or a replication, says of a database that is to be made. */
export interface DatabaseParameters {
  get(name: string): string | undefined;
}

/** Makes a database. */
export async function makeDatabase(
  registry: DatabaseRegistry,
  config: Config,
  name: string,
  parameters: DatabaseParameters,
): Promise<void> {
  positiveInteger(parameters, 'n');
  const q = positiveInteger(parameters, 'q') ?? config.number('cluster/q');
  checkPlacement(parameters.get('placement'));
  if ((parameters.get('engine') ?? 'couch') !== 'couch') throw badRequest('invalid_engine_extension');
  const partitioned = parameters.get('partitioned');
  if (partitioned !== undefined && partitioned !== 'true' && partitioned !== 'false') {
    throw badRequest('Invalid `partitioned` parameter');
  }
  checkDatabaseName(config, name);
  if (q > shardsMax) throw badRequest(`The \`q\` value must not be greater than ${shardsMax}.`);
  if (partitioned === 'true' && isSystemName(config, name.slice(name.lastIndexOf('/') + 1)))
    throw badRequest('Cannot partition a system database');
  const security = securityOfNew(config, name);
  await registry.createDatabase(name, {
    q,
    ...(partitioned === 'true' ? { partitioned: true, placement: 'partition' } : {}),
    ...(security && { security }),
  });
  await addAuthDesign(registry, config, name);
}

const shardsMax = 256;

/** There is one zone; what names several is checked, and has no effect. */
function checkPlacement(rules: string | undefined): void {
  if (rules === undefined || /^[^:,]+:0*[1-9]\d*(?:,[^:,]+:0*[1-9]\d*)*$/.test(rules)) return;
  throw badRequest('The `placement` value should be in a format `zone:n`.');
}

function positiveInteger(parameters: DatabaseParameters, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (!/^\+?[0-9]+$/.test(text) || Number(text) < 1)
    throw badRequest(`The \`${name}\` value should be a positive integer.`);
  return Number(text);
}
