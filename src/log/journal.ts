/**
 * What changes the state of one node and of no replica: which volume holds a database, which folder is a volume's, keys
 * of deleted databases that are still to be erased, blob files that may be removed. Like commands, entries are plain data.
 * They are recorded in the stores that they concern, in the same order and the same transactions as the commands there.
 *
 * What every implementation guarantees (`test/log/journal-suite.ts` checks it):
 *
 * - `record` resolves when the entry is durable and applied, with its result.
 * - Entries, and the commands of the logs of the same store, are applied in the order of the calls. Each sees what was
 *   applied before it and is applied as a whole or not at all.
 * - A node that stopped in between may record an entry again: applied twice, it leaves the same state as applied once.
 */
export interface Journal<E extends { type: keyof R }, R> {
  record<D extends E>(entry: D): Promise<R[D['type']]>;
}
