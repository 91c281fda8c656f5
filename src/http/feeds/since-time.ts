import type { Database } from '../../node/database.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';

/** As RFC 3339 has it, also with quotes around it, as sequences may have. */
const time = /^"?(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d))"?$/;

/**
 * Replaces a time by the newest sequence that the database is known to have reached by then, so that no later change is
 * missed. Everything else stays as it is.
 */
export function sinceTime(registry: DatabaseRegistry, database: Database, since: string): string {
  const [, day, rest] = time.exec(since) ?? [];
  if (day === undefined) return since;
  const ms = Date.parse(`${day}T${rest!.toUpperCase()}`);
  return Number.isNaN(ms) ? since : registry.timeSeq.sequenceAt(database, Math.floor(ms / 1000));
}
