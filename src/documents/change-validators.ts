import { noBytes, type Bytes } from '../base/bytes.js';
import { Unavailable } from '../base/errors.js';
import { StorageError } from '../base/storage-errors.js';
import type { Database } from '../node/database.js';
import type { SaveGate } from '../node/save-gate.js';
import { validatorsToken } from '../shard/validators.js';
import { changedTooOften } from './pass-gates.js';

/** How often the groups are told of a change, where others tell them otherwise. */
const roundsMax = 10;

/** Of the validation functions as they are now; undefined where no gate runs any. */
export function digestOf(gates: readonly SaveGate[], database: Database): Bytes | undefined {
  for (const gate of gates) if (gate.digest !== undefined) return gate.digest(database);
  return undefined;
}

/**
 * Changes design documents with validation functions: `shard/validators.ts` says how. `change` sends the commands, which carry
 * the token. One change of a database after the other.
 */
export async function changeValidators<T>(
  gates: readonly SaveGate[],
  database: Database,
  change: (token: Bytes) => Promise<T>,
): Promise<T> {
  return await database.validatorChanges.run(async () => {
    const token = validatorsToken(database.runtime.randomBytes(16).latin1Slice(0, 16));
    await database.setValidators(undefined, token);
    try {
      return await change(token);
    } finally {
      await announce(gates, database, token);
    }
  });
}

/** Tells every group the digest of the functions as they are now. */
async function announce(gates: readonly SaveGate[], database: Database, token: Bytes): Promise<void> {
  try {
    for (let round = 0; round < roundsMax; round++) {
      if (await database.setValidators(token, digestOf(gates, database) ?? noBytes)) return;
      await database.setValidators(undefined, token);
    }
  } catch (error) {
    // No document is accepted until a writer that is told to retry makes the groups agree.
    if (error instanceof StorageError) return;
    throw error;
  }
  throw new Unavailable(changedTooOften);
}

/**
 * Waits for a change of the validation functions that is under way. Where there is none, groups that know another digest
 * are told: they are of an earlier version, or a change was cut short.
 */
export async function agreeOnValidators(gates: readonly SaveGate[], database: Database): Promise<void> {
  const { ended } = database.validatorChanges;
  if (ended !== undefined) return await ended;
  await database.validatorChanges.run(async () => {
    await database.alignValidators(digestOf(gates, database) ?? noBytes);
  });
}
