/** The order in which a text index gives documents. A field to sort by has a type: `age:number`, `name:string`. */
import { RequestError } from '../base/errors.js';
import type { OrderValue } from '../fulltext/sorting.js';
import { elementName } from '../search/value-terms.js';
import { arrayIndex, parseField } from '../selectors/field-path.js';
import type { SelectorNode } from '../selectors/node.js';
import type { Sort } from './sort.js';

export interface TextSorting {
  readonly descending: boolean;
  readonly isAbsentLeast: true;
  readonly field: string;
  readonly type: SortType;
  valueOf(doc: unknown): OrderValue;
}

type SortType = 'string' | 'number';

/** What is kept of a string to sort by. */
const charactersMax = 128;

const suffix = /^(.+):(string|number)$/s;

export function readTextSort({ fields, direction }: Sort, selector: SelectorNode): TextSorting[] {
  return fields.map((given) => {
    const [, name, named] = suffix.exec(given) ?? [];
    const field = name ?? given;
    const type = (named as SortType | undefined) ?? guessedType(field, selector);
    const names = parseField(field);
    return {
      descending: direction === 'desc',
      isAbsentLeast: true,
      field,
      type,
      valueOf: (doc) => orderValue(valuesAt(doc, names, 0), type),
    };
  });
}

/** By what the selector compares the field with. */
function guessedType(field: string, selector: SelectorNode): SortType {
  const types = new Set(typesOf(field, selector));
  const [type] = types;
  if (type !== undefined && types.size === 1) return type;
  throw new RequestError(
    'text_sort_error',
    `Unspecified or ambiguous sort type. Try appending :number or :string to the sort field. ${field}`,
  );
}

function* typesOf(field: string, node: SelectorNode): Iterable<SortType> {
  if (node.kind === 'and' || node.kind === 'or' || node.kind === 'nor')
    for (const arg of node.args) yield* typesOf(field, arg);
  if (node.kind === 'not') yield* typesOf(field, node.arg);
  if (node.kind !== 'field' || node.field !== field || node.condition.kind !== 'condition') return;
  const { value } = node.condition;
  if (typeof value === 'string' || typeof value === 'number') yield typeof value as SortType;
}

/** All that is at a path; `[]` stands for every element of an array. */
function* valuesAt(value: unknown, names: readonly string[], at: number): Iterable<unknown> {
  const name = names[at];
  if (name === undefined) yield value;
  else if (Array.isArray(value)) {
    const index = arrayIndex(name);
    const elements = name === elementName ? value : index === undefined ? [] : value.slice(index, index + 1);
    for (const element of elements as unknown[]) yield* valuesAt(element, names, at + 1);
  } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, name))
    yield* valuesAt((value as Record<string, unknown>)[name], names, at + 1);
}

/** Of several values the greatest, as in CouchDB; null where there is none of the type. */
function orderValue(values: Iterable<unknown>, type: SortType): OrderValue {
  let greatest: OrderValue = null;
  for (const value of values) {
    if (typeof value !== type) continue;
    const each = (typeof value === 'string' ? value.slice(0, charactersMax).toWellFormed() : value) as
      string | number;
    if (greatest === null || each > greatest) greatest = each;
  }
  return greatest;
}
