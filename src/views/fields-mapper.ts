import { fromBytes, type Bytes } from '../base/bytes.js';
import { nextTurn, TimeSlice } from '../base/turns.js';
import { rawName, rawValue, type RawName } from '../json/raw-value.js';
import { arrayIndex, parseField } from '../selectors/field-path.js';
import { compileSelector, type Selector } from '../selectors/selector.js';
import type { ViewDefinition } from './definition.js';
import type { Emitted } from './doc-rows.js';
import type { Mapped, Mapper } from './mapper-contract.js';

interface FieldsView {
  paths: readonly (readonly RawName[])[];
  filter: Selector | undefined;
}

/**
 * Fills indexes of declarative queries: a row for each document that has all fields of the index, under the list of their
 * values. No function is run for that, and the values stand in the key as they do in the document, digit for digit.
 */
export class FieldsMapper implements Mapper {
  readonly isElsewhere = false;
  readonly #views: readonly FieldsView[];

  constructor(views: readonly ViewDefinition[]) {
    this.#views = views.map(({ map }) => {
      if (map.kind !== 'fields') throw new Error('a view of functions has no fields');
      const { fields, partialFilter } = map;
      return {
        paths: fields.map((field) => parseField(field).map((name) => rawName(name, arrayIndex(name)))),
        filter: partialFilter === undefined ? undefined : compileSelector(partialFilter),
      };
    });
  }

  async map(docs: readonly Bytes[]): Promise<Mapped> {
    // Where documents are served by the same thread, they get their turn first.
    await nextTurn();
    const slice = new TimeSlice();
    const rows: (readonly Emitted[])[][] = [];
    for (const text of docs) {
      rows.push(this.#views.map((view) => rowOf(view, text)));
      if (slice.isOver) await slice.next();
    }
    return { rows: () => Promise.resolve(rows) };
  }
}

const none: readonly Emitted[] = [];

function rowOf({ paths, filter }: FieldsView, text: Bytes): readonly Emitted[] {
  const values: Bytes[] = [];
  for (const path of paths) {
    const value = rawValue(text, path);
    if (value === undefined) return none;
    values.push(value);
  }
  if (filter !== undefined && !filter.matches(JSON.parse(fromBytes(text)))) return none;
  return [{ key: `[${values.join(',')}]`, value: 'null' }];
}
