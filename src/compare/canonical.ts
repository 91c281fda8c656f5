import type { Answer } from './request.js';

/**
 * An answer without what must differ between two servers: revisions, sequences, ids they have made, times, sizes and names
 * of the server itself. Revisions and ids are numbered by their first appearance, so that it still shows which are equal.
 */
export interface CanonicalAnswer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

const headersThatMatter = [
  'content-type',
  'etag',
  'location',
  'allow',
  'www-authenticate',
  'content-encoding',
  'content-range',
  'accept-ranges',
  'content-disposition',
  'x-couch-id',
  'x-couch-update-newrev',
  'x-made',
  'x-cut-off',
];

/** Members whose values each server measures or makes up by itself. */
const ownValues = new Set([
  'active',
  'bookmark',
  'collator_versions',
  'data_size',
  'disk_format_version',
  'disk_size',
  'encoded_length',
  'execution_time_ms',
  'external',
  'file',
  'git_sha',
  'instance_start_time',
  'node',
  'pid',
  'process_status',
  'purge_seq',
  'replication_id',
  'session_id',
  'signature',
  'started_on',
  'timestamp',
  'updated_on',
  'uptime',
  'uuid',
  'version',
]);

/** Lists that CouchDB sorts by hashes of its own, so that their order says nothing. */
const unorderedLists = new Set(['indexable_fields', 'missing', 'possible_ancestors', 'unindexable_fields']);

/** Told by how much each server reads for a query. */
const scanWarning = /\n?The number of documents examined is high[^\n]*/;

const sequenceName = /^(?:\w+_)?seq$/;

/** Attachments of these types are kept compressed, and the digest is that of the compressed bytes. */
const compressedType = /^(?:text\/|application\/(?:javascript|json|xml))/;

export function canonicalAnswer(answer: Answer, db: string): CanonicalAnswer {
  const text = new CanonicalText(db);
  const headers: Record<string, string> = {};
  for (const name of headersThatMatter) {
    const value = answer.headers[name];
    if (value !== undefined) headers[name] = canonicalHeader(name, value, text);
  }
  return { status: answer.status, headers, body: canonicalBody(answer.text, text) };
}

function canonicalHeader(name: string, value: string, text: CanonicalText): string {
  if (name === 'etag') return '<etag>';
  if (name === 'location') return text.of(value.replace(/^https?:\/\/[^/]*/, ''));
  // One server sends JSON as plain text to clients that accept anything, the other does not.
  if (name === 'content-type' && /^text\/plain; *charset=utf-8$/.test(value)) return 'application/json';
  if (name === 'content-type')
    return value
      .replace(/boundary=.*/, 'boundary=<boundary>')
      .replaceAll('; ', ';')
      .toLowerCase();
  if (name === 'allow') return value.split(/, */).sort().join(',');
  return text.of(value);
}

function canonicalBody(body: string, text: CanonicalText): unknown {
  try {
    return canonicalValue(JSON.parse(body), '', text);
  } catch {
    const lines = body.trim().split('\n');
    return lines.length > 1
      ? lines
          .filter((line) => !text.isOfOthers(parsedLine(line), ''))
          .map((line) => canonicalLine(line, text))
      : canonicalLine(body.trim(), text);
  }
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line.replace(/,?\r?$/, ''));
  } catch {
    return undefined;
  }
}

function canonicalLine(line: string, text: CanonicalText): unknown {
  try {
    return canonicalValue(JSON.parse(line.replace(/,?\r?$/, '')), '', text);
  } catch {
    if (line.includes('\uFFFD')) return '<bytes>';
    return text.of(
      line
        .replace(/\r$/, '')
        .replace(/^--[\w-]{16,}/, '--<boundary>')
        .replace(/boundary=.*/, ''),
    );
  }
}

function canonicalValue(value: unknown, name: string, text: CanonicalText): unknown {
  if (value === null) return null;
  if (typeof value === 'string' || typeof value === 'number') {
    if (ownValues.has(name)) return `<${name}>`;
    if (sequenceName.test(name)) return '<seq>';
    if (name === 'warning') return String(value).replace(scanWarning, '');
    return typeof value === 'string' ? text.of(value) : value;
  }
  if (Array.isArray(value)) {
    const list = inFixedOrder(value)
      .filter((each) => !isPurgeCheckpoint(each) && !text.isOfOthers(each, name))
      .map((each) => canonicalValue(each, name, text));
    return unorderedLists.has(name) ? list.map((each) => JSON.stringify(each)).sort() : list;
  }
  if (typeof value !== 'object') return value;
  const members = value as Record<string, unknown>;
  const isCompressed =
    typeof members['content_type'] === 'string' && compressedType.test(members['content_type']);
  // In one order, so that both number the same revision first.
  const sorted = Object.entries(members)
    .filter(([key]) => key !== 'ref' || !('error' in members))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const entries = sorted.map(([key, each]) => {
    if (key === 'digest' && isCompressed) return [key, '<digest>'] as const;
    return [text.of(key), canonicalValue(each, key, text)] as const;
  });
  return Object.fromEntries(entries);
}

/** Leaves of a document in `_bulk_get` and `_changes`: they are in the order of their hashes, which are each server's own. */
function inFixedOrder(list: readonly unknown[]): readonly unknown[] {
  const isLeaf = (each: unknown): boolean =>
    typeof each === 'object' &&
    each !== null &&
    ('ok' in each ? typeof each.ok === 'object' : 'error' in each);
  const isHashed = list.some((each) => /^\d+-[0-9a-f]{32}$/.test(String(changedRev(each))));
  if (list.length < 2 || !(list.every(isLeaf) || (isHashed && list.every(changedRev)))) return list;
  const sortText = (each: unknown): string =>
    JSON.stringify(each, (_, member: unknown) =>
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    ).replaceAll(/[0-9a-f]{32}/g, '');
  return list
    .map((each) => ({ each, text: sortText(each) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ each }) => each);
}

/** The revision, in the changes of a document. */
const changedRev = (each: unknown): unknown =>
  typeof each === 'object' && each !== null && Object.keys(each).join(',') === 'rev' && 'rev' in each
    ? each.rev
    : undefined;

/** Local documents that CouchDB keeps for each index. */
function isPurgeCheckpoint(value: unknown): boolean {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' && id.startsWith('_local/purge-');
}

/** Texts of one answer. */
class CanonicalText {
  readonly #numbers = new Map<string, number>();

  constructor(private readonly db: string) {}

  of(text: string): string {
    const named = this.db === '' ? text : text.replaceAll(this.db, '{db}');
    return named
      .replaceAll(/\b(\d+)-([0-9a-f]{32})\b/g, (_, start, hash) => `${start}-<rev ${this.#number(hash)}>`)
      .replaceAll(/\b\d+-g1A[\w-]{8,}/g, '<seq>')
      .replaceAll(/\b(?:[0-9a-f]{40}|[0-9a-f]{32})\b/g, (hex) => `<id ${this.#number(hex)}>`)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
      .replaceAll(/\b[\w-]+@127\.0\.0\.1\b/g, '<node>')
      .replaceAll(/shards\/[0-9a-f]{8}-[0-9a-f]{8}\/[^".]+\.\d+/g, '<shard>')
      .replaceAll(/127\.0\.0\.1:\d+|localhost:\d+/g, '<host>');
  }

  /** Whether it tells of another database: which ones there are, and what was done to them, is each server's own. */
  isOfOthers(value: unknown, list: string): boolean {
    if (typeof value === 'string') return list === '' && !value.startsWith('_') && value !== this.db;
    if (typeof value !== 'object' || value === null) return false;
    const { db_name: event, type, key, info, database, pid } = value as Record<string, unknown>;
    if (event !== undefined && type !== undefined) return event !== this.db;
    if (info !== undefined) return key !== this.db;
    return pid !== undefined && !String(database).includes(this.db);
  }

  #number(own: string): number {
    const known = this.#numbers.get(own);
    if (known !== undefined) return known;
    this.#numbers.set(own, this.#numbers.size + 1);
    return this.#numbers.size;
  }
}
