import { fromBytes, type Bytes } from '../base/bytes.js';
import { quoteId } from '../shard/doc-text.js';
import { parseField } from '../selectors/field-path.js';
import type { Selector } from '../selectors/selector.js';
import type { IndexRow } from './index-reader.js';
import type { Match } from './matching.js';
import { KeyProjection } from '../selectors/projection.js';
import type { QueryIndex } from './query-index.js';

type Members = Record<string, unknown>;

/** Answers from the keys of an index alone, where they hold all that is asked for. */
export class KeyMatcher {
  readonly #paths: readonly (readonly string[])[];
  readonly #projection: KeyProjection | undefined;

  constructor(
    private readonly selector: Selector,
    { columns }: QueryIndex,
    fields: readonly string[] | undefined,
  ) {
    this.#paths = columns.map(parseField);
    this.#projection = fields && new KeyProjection(fields, columns);
  }

  match(row: IndexRow): Match | undefined {
    const doc = this.#docOf(row);
    if (!this.selector.matches(doc)) return undefined;
    const text = (): Bytes => this.#projection!.of(quoteId(row.id), row.keyText);
    return { row, text, parsed: () => doc };
  }

  /** What the index knows of the document. */
  #docOf({ id, keyText }: IndexRow): Members {
    const doc = Object.create(null) as Members;
    const values = JSON.parse(fromBytes(keyText)) as unknown[];
    for (const [at, path] of this.#paths.entries()) put(doc, path, values[at]);
    doc['_id'] = fromBytes(id);
    return doc;
  }
}

function put(doc: Members, path: readonly string[], value: unknown): void {
  let into = doc;
  for (const name of path.slice(0, -1)) {
    const held = into[name];
    // A column that is there as a whole has this part of it, too.
    if (held !== undefined && (typeof held !== 'object' || held === null || Array.isArray(held))) return;
    into = (into[name] ??= Object.create(null)) as Members;
  }
  into[path.at(-1)!] = value;
}
