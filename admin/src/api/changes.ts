import { linesOf } from './bounded.js';
import { call, send, type Query } from './http.js';

export interface Change {
  seq: string;
  id: string;
  deleted?: boolean;
  changes: { rev: string }[];
}

/** What a feed is restricted to: a filter function's name, a selector as JSON, or nothing. */
export interface ChangesFilter {
  filter: string;
  selector: string;
}

function requestOf({ filter, selector }: ChangesFilter): { query: Query; text?: string } {
  if (selector !== '') return { query: { filter: '_selector' }, text: `{"selector":${selector}}` };
  return { query: { filter: filter || undefined }, text: '{}' };
}

interface Listing {
  results: Change[];
  last_seq: string;
}

/** The latest changes, the newest first. */
export async function latestChanges(
  db: string,
  restriction: ChangesFilter,
  limit: number,
  signal: AbortSignal,
): Promise<Change[]> {
  const { query, ...body } = requestOf(restriction);
  const options = { query: { ...query, descending: true, limit }, ...body, signal };
  return (await call<Listing>('POST', [db, '_changes'], options)).results;
}

const heartbeatMs = 20_000;

/** Changes as they happen. */
export async function* followChanges(
  db: string,
  restriction: ChangesFilter,
  since: string,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  const { query, ...body } = requestOf(restriction);
  const options = { query: { ...query, feed: 'continuous', heartbeat: heartbeatMs, since }, ...body, signal };
  for await (const line of linesOf(await send('POST', [db, '_changes'], options))) {
    if (line.trim() === '') continue;
    const change = JSON.parse(line) as Change;
    if (change.id !== undefined) yield change;
  }
}
