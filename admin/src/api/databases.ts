import { call, get } from './http.js';

export interface DatabaseInfo {
  db_name: string;
  doc_count: number;
  doc_del_count: number;
  update_seq: string;
  compact_running: boolean;
  sizes: { file: number; external: number; active: number };
  props: { partitioned?: boolean };
  cluster: { q: number; n: number; w: number; r: number };
}

/** The server's default of `max_db_number_for_dbs_info_req`. */
export const infosMax = 100;
const firstNames = 1000;
const furtherNames = 20_000;

/** Gives the names of all databases, page by page, so that the first can be shown at once. */
export async function* databaseNames(signal: AbortSignal): AsyncGenerator<string[]> {
  let query: { limit: number; startkey?: string } = { limit: firstNames };
  for (;;) {
    const names = await get<string[]>(['_all_dbs'], query, signal);
    const { limit } = query;
    yield query.startkey === undefined ? names : names.slice(1);
    if (names.length < limit) return;
    query = { limit: furtherNames, startkey: JSON.stringify(names.at(-1)) };
  }
}

export async function databaseInfos(
  names: string[],
  signal: AbortSignal,
): Promise<Map<string, DatabaseInfo>> {
  type Row = { key: string; info?: DatabaseInfo };
  const rows = await call<Row[]>('POST', ['_dbs_info'], { json: { keys: names }, signal });
  return new Map(rows.flatMap(({ key, info }) => (info ? [[key, info]] : [])));
}

export const databaseInfo = (name: string, signal?: AbortSignal): Promise<DatabaseInfo> =>
  get<DatabaseInfo>([name], undefined, signal);

export const createDatabase = (name: string, q: string, partitioned: boolean): Promise<unknown> =>
  call('PUT', [name], {
    query: { q: q === '' ? undefined : q, partitioned: partitioned || undefined },
  });

export const deleteDatabase = (name: string): Promise<unknown> => call('DELETE', [name]);

export const compactDatabase = (name: string): Promise<unknown> =>
  call('POST', [name, '_compact'], { json: {} });
