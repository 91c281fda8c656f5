import { membersOf, parseExact, withMembers } from '../lib/json-text.js';
import { boundedText } from './bounded.js';
import { call, get } from './http.js';

export interface IndexDefinition {
  ddoc: string | null;
  name: string;
  type: string;
  def: { fields: Record<string, string>[] };
}

export interface FindAnswer {
  docs: Record<string, unknown>[];
  bookmark: string;
  warning?: string;
  execution_stats?: Record<string, number>;
}

interface KeyRange {
  start_key: unknown;
  end_key: unknown;
}

export interface Explanation {
  index: IndexDefinition | null;
  covering?: boolean;
  mrargs?: KeyRange & { direction?: string };
  ranges?: KeyRange[];
  opts: { sort: Record<string, string> };
  index_candidates?: {
    index: IndexDefinition;
    analysis: { usable: boolean; reasons: { name: string }[]; covering: boolean | null };
  }[];
  selector_hints?: { indexable_fields: string[]; unindexable_fields: string[] }[];
}

/** A page of documents above this is too much for a list. */
const answerBytesMax = 30_000_000;

/** Sends a query as it was written, with a bookmark and a wish for statistics added. */
export async function find(
  db: string,
  query: string,
  bookmark: string | null,
  signal: AbortSignal,
): Promise<FindAnswer> {
  const text = withMembers(query, {
    execution_stats: 'true',
    ...(bookmark === null ? {} : { bookmark: JSON.stringify(bookmark) }),
  });
  const answer = await boundedText('POST', [db, '_find'], { text, signal }, answerBytesMax);
  if (answer === undefined)
    throw new Error('The answer is larger than 30 MB. Ask for fewer documents, or name fields.');
  return parseExact(answer) as FindAnswer;
}

export const explain = (db: string, query: string, signal: AbortSignal): Promise<Explanation> =>
  call('POST', [db, '_explain'], { text: withMembers(query, { bookmark: undefined }), signal });

export const indexesOf = async (db: string, signal?: AbortSignal): Promise<IndexDefinition[]> =>
  (await get<{ indexes: IndexDefinition[] }>([db, '_index'], undefined, signal)).indexes;

export const createIndex = (db: string, fields: string[], name: string): Promise<unknown> =>
  call('POST', [db, '_index'], {
    json: { index: { fields }, ...(name === '' ? {} : { name }), type: 'json' },
  });

export const deleteIndex = (db: string, { ddoc, type, name }: IndexDefinition): Promise<unknown> =>
  call('DELETE', [db, '_index', ddoc!.replace('_design/', ''), type, name]);

/** Fields that a query's index should have: those it sorts by, or those that it compares for equality first. */
export function fieldsForIndex(query: string, { selector_hints, opts }: Explanation): string[] {
  const sorted = Object.keys(opts.sort);
  const compared = selector_hints?.[0]?.indexable_fields ?? [];
  const selector = JSON.parse(membersOf(query).get('selector') ?? '{}') as Record<string, unknown>;
  const isEquality = (field: string): boolean => typeof selector[field] !== 'object';
  const ordered = [...compared.filter(isEquality), ...compared.filter((field) => !isEquality(field))];
  return sorted.length > 0 ? sorted : ordered;
}
