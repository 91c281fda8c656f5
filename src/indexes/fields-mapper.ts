import type { Runtime } from '../base/runtime.js';
import { asBytes, fromBytes, type Bytes } from '../base/bytes.js';
import { RawFields } from '../json/raw-fields.js';
import { rawName } from '../json/raw-value.js';
import { arrayIndex, parseField } from '../selectors/field-path.js';
import { compileSelector, type Selector } from '../selectors/selector.js';
import type { ViewDefinition } from './definition.js';
import type { Emitted } from './doc-rows.js';
import type { Mapped, Mapper } from './mapper-contract.js';

interface FieldsView {
  fields: RawFields;
  filter: Selector | undefined;
}

/**
 * Fills indexes of declarative queries: a row for each document that has all fields of the index, under the list of their
 * values. No function is run for that, and the values stand in the key as they do in the document, digit for digit.
 */
export class FieldsMapper implements Mapper {
  readonly isElsewhere = false;
  readonly #views: readonly FieldsView[];

  constructor(
    views: readonly ViewDefinition[],
    private readonly runtime: Runtime,
  ) {
    this.#views = views.map(({ map }) => {
      if (map.kind !== 'fields') throw new Error('a view of functions has no fields');
      const { fields, partialFilter } = map;
      return {
        fields: new RawFields(
          fields.map((field) => parseField(field).map((name) => rawName(name, arrayIndex(name)))),
        ),
        filter: partialFilter === undefined ? undefined : compileSelector(partialFilter),
      };
    });
  }

  async map(docs: readonly Bytes[]): Promise<Mapped> {
    // Where documents are served by the same thread, they get their turn first.
    await this.runtime.nextTurn();
    const slice = this.runtime.slice();
    const rows: (readonly Emitted[])[][] = [];
    for (const text of docs) {
      const done = rows.push(this.#views.map((view) => rowOf(view, text)));
      if ((done & 7) === 0 && slice.isOver) await slice.next();
    }
    return { rows: () => Promise.resolve(rows) };
  }
}

/** Whether all that views ask for is in the members that clients have given to a document. */
export const needBodiesOnly = (views: readonly ViewDefinition[]): boolean =>
  views.every(
    ({ map }) =>
      map.kind === 'fields' &&
      map.partialFilter === undefined &&
      map.fields.every((field) => !parseField(field)[0]!.startsWith('_')),
  );

const none: readonly Emitted[] = [];

function rowOf({ fields, filter }: FieldsView, text: Bytes): readonly Emitted[] {
  const values = fields.of(text);
  if (values.includes(undefined)) return none;
  if (filter !== undefined && !filter.matches(JSON.parse(fromBytes(text)))) return none;
  return [{ key: asBytes(`[${values.join(',')}]`), value: asBytes('null') }];
}
