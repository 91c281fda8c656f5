import { compareJson } from '../../src/json/collation.js';
import type { Random } from '../model/random.js';

/** A document as the model keeps it; the view under test emits each of `keys` with `value`. */
export interface ModelDoc {
  keys: unknown[];
  value: number;
}

export interface ModelRow {
  id: string;
  key: unknown;
  value: number;
}

export interface ModelQuery {
  startkey?: unknown;
  endkey?: unknown;
  key?: unknown;
  keys?: unknown[];
  descending?: boolean;
  inclusive_end?: boolean;
  limit?: number;
  skip?: number;
  reduce?: boolean;
  group?: boolean;
  group_level?: number;
}

/** What `function (doc) { doc.keys.forEach(key => emit(key, doc.value)) }` with `_sum` answers, the plain way. */
export function modelAnswer(docs: ReadonlyMap<string, ModelDoc>, query: ModelQuery): unknown {
  const all = [...docs].flatMap(([id, { keys, value }]) => keys.map((key): ModelRow => ({ id, key, value })));
  all.sort(compareModelRows);
  const found =
    query.keys === undefined ? between(all, query) : query.keys.flatMap((key) => equalTo(all, key));
  if (query.reduce === false) return { total_rows: all.length, rows: cut(found, query) };
  if (query.group === undefined && query.group_level === undefined) {
    return { rows: found.length === 0 ? [] : [{ key: null, value: sum(found) }] };
  }
  return { rows: cut(groups(found, query), query) };
}

function compareModelRows(a: ModelRow, b: ModelRow): number {
  return compareJson(a.key, b.key) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0) || a.value - b.value;
}

function between(rows: readonly ModelRow[], query: ModelQuery): ModelRow[] {
  if ('key' in query) return equalTo(query.descending ? rows.toReversed() : rows, query.key);
  const order = query.descending ? -1 : 1;
  const list = query.descending ? rows.toReversed() : rows;
  return list.filter(({ key }) => {
    if ('startkey' in query && order * compareJson(key, query.startkey) < 0) return false;
    if (!('endkey' in query)) return true;
    const place = order * compareJson(key, query.endkey);
    return query.inclusive_end === false ? place < 0 : place <= 0;
  });
}

const equalTo = (rows: readonly ModelRow[], wanted: unknown): ModelRow[] =>
  rows.filter(({ key }) => compareJson(key, wanted) === 0);

const cut = <T>(list: readonly T[], { skip = 0, limit = Infinity }: ModelQuery): T[] =>
  list.slice(skip, skip + limit);

const sum = (rows: readonly ModelRow[]): number => rows.reduce((total, { value }) => total + value, 0);

function groups(rows: readonly ModelRow[], query: ModelQuery): { key: unknown; value: number }[] {
  const level = query.group_level ?? Infinity;
  const grouped: { key: unknown; rows: ModelRow[] }[] = [];
  for (const row of rows) {
    const key = Array.isArray(row.key) ? row.key.slice(0, level) : row.key;
    const last = grouped.at(-1);
    // Keys that were asked for one by one are groups of their own.
    if (last !== undefined && compareJson(last.key, key) === 0) last.rows.push(row);
    else grouped.push({ key, rows: [row] });
  }
  return grouped.map(({ key, rows: members }) => ({ key, value: sum(members) }));
}

const words = ['a', 'A', 'b', 'Bb', 'zebra', 'é', 'e', 'ß', '10', '9', '_x', ' '];

export function randomKey(random: Random, depth = 0): unknown {
  switch (random.below(depth < 2 ? 7 : 4)) {
    case 0:
      return random.pick([null, true, false]);
    case 1:
      return random.below(20) - 5;
    case 2:
      return random.below(1000) / 8;
    case 3:
      return random.pick(words);
    case 6:
      return { [random.pick(words)]: randomKey(random, depth + 1) };
    default:
      return Array.from({ length: random.below(4) }, () => randomKey(random, depth + 1));
  }
}

export function randomQuery(random: Random): ModelQuery {
  const query: ModelQuery = {};
  if (random.oneIn(2)) query.descending = random.oneIn(2);
  if (random.oneIn(3)) query.limit = random.below(30);
  if (random.oneIn(3)) query.skip = random.below(20);
  const shape = random.below(4);
  if (shape === 0) query.reduce = false;
  if (shape === 1) query.group = true;
  if (shape === 2) query.group_level = 1 + random.below(3);
  if (shape === 3) {
    delete query.limit;
    delete query.skip;
  }
  setBounds(random, query);
  return query;
}

function setBounds(random: Random, query: ModelQuery): void {
  const keys = [randomKey(random), randomKey(random)].sort(compareJson);
  if (query.descending) keys.reverse();
  switch (random.below(5)) {
    case 0:
      query.key = keys[0];
      break;
    case 1:
      query.startkey = keys[0];
      break;
    case 2:
      query.startkey = keys[0];
      query.endkey = keys[1];
      if (random.oneIn(2)) query.inclusive_end = false;
      break;
    case 3:
      query.endkey = keys[1];
      break;
  }
}
