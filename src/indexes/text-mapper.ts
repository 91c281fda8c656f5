import type { Runtime } from '../base/runtime.js';
import { fromBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { TimeSlice } from '../base/turns.js';
import {
  anyValue,
  arrayLengthTerm,
  arrayTerm,
  elementName,
  memberPath,
  objectTerm,
  pathOf,
  termOf,
  valueKey,
} from '../search/value-terms.js';
import { parseField } from '../selectors/field-path.js';
import { compileSelector, type Selector } from '../selectors/selector.js';
import type { ViewDefinition } from './definition.js';
import type { Emitted } from './doc-rows.js';
import type { Mapped, Mapper } from './mapper-contract.js';
import type { TextDefinition } from './text-definition.js';

/**
 * Fills text indexes of declarative queries. Of a document it gives the keys of its values, each once, and the strings that
 * `$text` searches, as values without a key. No function is run for that.
 */
export class TextMapper implements Mapper {
  readonly isElsewhere = false;
  readonly #indexes: readonly TextIndex[];

  constructor(
    views: readonly ViewDefinition[],
    private readonly runtime: Runtime,
  ) {
    this.#indexes = views.map(({ map }) => {
      if (map.kind !== 'text') throw new Error('a view of functions is no text index');
      return new TextIndex(map.definition);
    });
  }

  async map(docs: readonly Bytes[]): Promise<Mapped> {
    // Where documents are served by the same thread, they get their turn first.
    await this.runtime.nextTurn();
    const slice = this.runtime.slice();
    const rows: (readonly Emitted[])[][] = [];
    for (const text of docs) {
      const doc = JSON.parse(fromBytes(text)) as Record<string, unknown>;
      const ofDoc: (readonly Emitted[])[] = [];
      for (const index of this.#indexes) ofDoc.push(await index.rowsOf(doc, slice));
      rows.push(ofDoc);
    }
    return { rows: () => Promise.resolve(rows) };
  }
}

const none: readonly Emitted[] = [];
/** Values after which the time is looked at. */
const valuesAtOnce = 64;

class TextIndex {
  readonly #filter: Selector | undefined;
  /** Undefined for all paths. */
  readonly #paths: ReadonlySet<string> | undefined;
  /** Those whose strings `$text` searches. */
  readonly #textPaths: ReadonlySet<string> | undefined;

  constructor(private readonly definition: TextDefinition) {
    const { fields, partialFilter } = definition;
    const paths = (list: typeof fields): ReadonlySet<string> | undefined =>
      list && new Set(list.map(({ name }) => pathOf(parseField(name))));
    this.#filter = partialFilter && compileSelector(partialFilter);
    this.#paths = paths(fields);
    this.#textPaths = paths(fields?.filter(({ type }) => type === 'string'));
  }

  async rowsOf(doc: Record<string, unknown>, slice: TimeSlice): Promise<readonly Emitted[]> {
    if (slice.isOver) await slice.next();
    if (this.#filter?.matches(doc) === false) return none;
    // Also a document without values is in the index.
    const keys = new Set([valueKey('', anyValue)]);
    const texts: Emitted[] = [];
    const waiting: [string, unknown][] = Object.entries(doc)
      .filter(([name]) => !name.startsWith('_'))
      .map(([name, value]) => [memberPath('', name), value]);
    for (let values = 1; waiting.length > 0; values++) {
      const [path, value] = waiting.pop()!;
      if (this.#paths === undefined || this.#paths.has(path)) this.#take(path, value, keys, texts);
      if (typeof value === 'object' && value !== null) addParts(path, value, waiting);
      if (values % valuesAtOnce === 0 && slice.isOver) await slice.next();
    }
    return [...Array.from(keys, (key) => ({ key, value: noBytes })), ...texts];
  }

  #take(path: string, value: unknown, keys: Set<Bytes>, texts: Emitted[]): void {
    const { arrayLengths, defaultField } = this.definition;
    keys.add(valueKey(path, anyValue));
    if (Array.isArray(value)) {
      keys.add(valueKey(path, arrayTerm));
      if (arrayLengths) keys.add(valueKey(path, arrayLengthTerm(value.length)));
    } else if (typeof value === 'object' && value !== null) keys.add(valueKey(path, objectTerm));
    else keys.add(valueKey(path, termOf(value)));
    if (typeof value !== 'string' || value === '' || defaultField === undefined) return;
    if (this.#textPaths === undefined || this.#textPaths.has(path))
      texts.push({ key: noBytes, value: toBytes(value.toWellFormed()) });
  }
}

function addParts(path: string, value: object, waiting: [string, unknown][]): void {
  if (Array.isArray(value)) {
    const inside = memberPath(path, elementName);
    for (const element of value as unknown[]) waiting.push([inside, element]);
  } else for (const [name, member] of Object.entries(value)) waiting.push([memberPath(path, name), member]);
}
