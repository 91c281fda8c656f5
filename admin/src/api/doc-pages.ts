import { parseExact } from '../lib/json-text.js';
import { preview } from '../lib/preview.js';
import { boundedText } from './bounded.js';
import { get } from './http.js';

export interface DocRow {
  id: string;
  rev: string;
  /** Bounded texts of the members; undefined where the documents of the page are too large to be read for a list. */
  fields: Map<string, string> | undefined;
  json: string | undefined;
}

interface AllDocs {
  total_rows: number;
  offset: number;
  rows: { id: string; value: { rev: string }; doc?: Record<string, unknown> }[];
}

const pageSize = 100;
const pagesKept = 12;
const pageBytesMax = 4_000_000;
const fieldLengthMax = 120;
const fieldsMax = 40;
const jsonLengthMax = 1200;

/**
 * The documents of a database by position, for a list that scrolls. A page is read by the id it begins with, or from
 * the nearest such id below it; only a few pages are kept, so memory does not grow with what was scrolled past.
 */
export class DocPages {
  total = 0;
  error: unknown;
  readonly #starts = new Map<number, string | undefined>([[0, undefined]]);
  readonly #pages = new Map<number, DocRow[]>();
  readonly #loading = new Map<number, AbortController>();

  constructor(
    readonly db: string,
    readonly onChange: () => void,
  ) {}

  get isFirstLoaded(): boolean {
    return this.#pages.size > 0;
  }

  rowAt(index: number): DocRow | undefined {
    return this.#pages.get(Math.floor(index / pageSize))?.[index % pageSize];
  }

  /** The rows that are in memory. */
  get loaded(): DocRow[] {
    return [...this.#pages.values()].flat();
  }

  /** Loads the pages of a range, and gives up loading others. */
  load(first: number, last: number): void {
    const from = Math.max(Math.floor(first / pageSize), 0);
    const to = Math.max(Math.floor(last / pageSize), from);
    for (const [page, stop] of this.#loading) {
      if (page < from || page > to) stop.abort();
    }
    for (let page = from; page <= to; page++) {
      if (!this.#pages.has(page) && !this.#loading.has(page)) void this.#loadPage(page);
    }
  }

  async positionOf(id: string): Promise<number> {
    const found = await get<AllDocs>([this.db, '_all_docs'], { startkey: JSON.stringify(id), limit: 1 });
    return Math.min(found.offset ?? 0, Math.max(found.total_rows - 1, 0));
  }

  close(): void {
    for (const stop of this.#loading.values()) stop.abort();
  }

  async #loadPage(page: number): Promise<void> {
    const stop = new AbortController();
    this.#loading.set(page, stop);
    try {
      const answer = await this.#read(page, stop.signal);
      this.total = answer.total_rows;
      this.#starts.set(page, answer.rows[0]?.id);
      if (answer.rows.length > pageSize) this.#starts.set(page + 1, answer.rows[pageSize]!.id);
      this.#keep(page, answer.rows.slice(0, pageSize).map(rowOf));
      this.error = undefined;
    } catch (error) {
      if (!stop.signal.aborted) this.error = error;
    }
    this.#loading.delete(page);
    if (!stop.signal.aborted) this.onChange();
  }

  async #read(page: number, signal: AbortSignal): Promise<AllDocs> {
    const near = this.#nearestStart(page);
    const start = this.#starts.get(near);
    const query = {
      limit: pageSize + 1,
      skip: (page - near) * pageSize,
      startkey: start === undefined ? undefined : JSON.stringify(start),
    };
    const parts = [this.db, '_all_docs'];
    const text = await boundedText(
      'GET',
      parts,
      { query: { ...query, include_docs: true }, signal },
      pageBytesMax,
    );
    return text === undefined ? await get<AllDocs>(parts, query, signal) : (parseExact(text) as AllDocs);
  }

  #nearestStart(page: number): number {
    let near = page;
    while (!this.#starts.has(near)) near--;
    return near;
  }

  #keep(page: number, rows: DocRow[]): void {
    this.#pages.set(page, rows);
    for (const old of this.#pages.keys()) {
      if (this.#pages.size <= pagesKept) break;
      this.#pages.delete(old);
    }
  }
}

function rowOf({ id, value, doc }: AllDocs['rows'][number]): DocRow {
  if (!doc) return { id, rev: value.rev, fields: undefined, json: undefined };
  const entries = Object.entries(doc).slice(0, fieldsMax);
  return {
    id,
    rev: value.rev,
    fields: new Map(entries.map(([name, each]) => [name.slice(0, 100), shortText(each)])),
    json: preview(doc, jsonLengthMax, '  '),
  };
}

function shortText(value: unknown): string {
  const text = preview(value, fieldLengthMax);
  return typeof value === 'string' && text.endsWith('"') ? value : text;
}
