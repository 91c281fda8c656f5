import { RequestError } from '../base/errors.js';
import { parseField } from '../selectors/field-path.js';
import { shown } from '../selectors/refusals.js';

export type Direction = 'asc' | 'desc';

/** Fields in an order, all in one direction. Requests have it, and indexes. */
export interface Sort {
  readonly fields: readonly string[];
  readonly direction: Direction;
}

export const noSort: Sort = { fields: [], direction: 'asc' };

/** Of an order, and so of an index. */
const fieldsMax = 1_000;

export function readSort(value: unknown): Sort {
  if (!Array.isArray(value))
    throw new RequestError('invalid_sort_json', `Sort must be an array of sort specs, not: ${shown(value)}`);
  if (value.length > fieldsMax)
    throw new RequestError('invalid_sort_json', `There are more than ${fieldsMax} fields to sort by.`);
  const fields = value.map(readField);
  const direction = fields[0]?.direction ?? 'asc';
  if (fields.some((field) => field.direction !== direction))
    throw new RequestError(
      'unsupported_mixed_sort',
      'Sorts currently only support a single direction for all fields.',
    );
  return { fields: fields.map(({ field }) => field), direction };
}

function readField(spec: unknown): { field: string; direction: Direction } {
  const [field, direction] =
    typeof spec === 'string'
      ? [spec, 'asc']
      : typeof spec === 'object' && spec !== null && !Array.isArray(spec)
        ? only(Object.entries(spec))
        : [];
  if (field === undefined || field === '' || (direction !== 'asc' && direction !== 'desc'))
    throw new RequestError('invalid_sort_field', `Invalid sort field: ${shown(spec)}`);
  parseField(field);
  return { field, direction };
}

const only = (members: [string, unknown][]): [string?, unknown?] => (members.length === 1 ? members[0]! : []);
