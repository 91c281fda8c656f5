import { fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { fieldReader, type FieldReader } from '../selectors/field-path.js';
import { compileSelector, type Selector } from '../selectors/selector.js';
import type { ViewDefinition } from './definition.js';
import type { Emitted } from './doc-rows.js';
import type { Mapper } from './mapper-contract.js';

/** Documents that are parsed before others get their turn. */
const docsAtOnce = 200;

interface FieldsView {
  readers: readonly FieldReader[];
  filter: Selector | undefined;
}

/**
 * Fills indexes of declarative queries: a row for each document that has all fields of the index, under the list of their
 * values. No function is run for that.
 */
export class FieldsMapper implements Mapper {
  readonly #views: readonly FieldsView[];

  constructor(views: readonly ViewDefinition[]) {
    this.#views = views.map(({ map }) => {
      if (map.kind !== 'fields') throw new Error('a view of functions has no fields');
      const { fields, partialFilter } = map;
      return {
        readers: fields.map(fieldReader),
        filter: isEmpty(partialFilter) ? undefined : compileSelector(partialFilter),
      };
    });
  }

  async map(docs: readonly Bytes[]): Promise<readonly (readonly (readonly Emitted[])[])[]> {
    const rows: (readonly Emitted[])[][] = [];
    for (const [i, text] of docs.entries()) {
      const doc = JSON.parse(fromBytes(text)) as unknown;
      rows.push(this.#views.map((view) => rowOf(view, doc)));
      if (i % docsAtOnce === docsAtOnce - 1) await new Promise((resolve) => setImmediate(resolve));
    }
    return rows;
  }
}

const none: readonly Emitted[] = [];

function rowOf({ readers, filter }: FieldsView, doc: unknown): readonly Emitted[] {
  const values: unknown[] = [];
  for (const read of readers) {
    const value = read(doc);
    if (value === undefined) return none;
    values.push(value);
  }
  if (filter !== undefined && !filter.matches(doc)) return none;
  return [{ key: toBytes(JSON.stringify(values)), value: 'null' }];
}

const isEmpty = (selector: unknown): boolean =>
  selector === undefined ||
  (typeof selector === 'object' && selector !== null && Object.keys(selector).length === 0);
