import { get } from './http.js';

interface SearchAnswer {
  total_rows: number;
  bookmark: string;
  rows: { id: string; fields: Record<string, unknown>; doc?: Record<string, unknown> | null }[];
}

interface DesignDoc {
  _id: string;
  indexes?: Record<string, unknown>;
}

const designDocsMax = 500;

/** Names of search indexes, as `design-document/index`. */
export async function searchIndexes(db: string, signal: AbortSignal): Promise<string[]> {
  const query = { include_docs: true, limit: designDocsMax, startkey: '"_design/"', endkey: '"_design0"' };
  const { rows } = await get<{ rows: { doc: DesignDoc }[] }>([db, '_all_docs'], query, signal);
  return rows.flatMap(({ doc }) =>
    Object.keys(doc.indexes ?? {}).map((name) => `${doc._id.replace('_design/', '')}/${name}`),
  );
}

export function search(
  db: string,
  index: string,
  { q, bookmark }: { q: string; bookmark: string | null },
  limit: number,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const at = index.lastIndexOf('/');
  const parts = [db, `_design/${index.slice(0, at)}`, '_search', index.slice(at + 1)];
  return get(parts, { q, limit, include_docs: true, ...(bookmark === null ? {} : { bookmark }) }, signal);
}
