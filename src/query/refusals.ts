import { RequestError } from '../base/errors.js';
import { shown } from '../selectors/refusals.js';

export const invalidKey = (key: string): RequestError =>
  new RequestError('invalid_key', `Invalid key ${key} for this request.`);

export const missingKey = (key: string): RequestError =>
  new RequestError('missing_required_key', `Missing required key: ${key}`);

export const invalidIndexName = (value: unknown): RequestError =>
  new RequestError('invalid_index_name', `Invalid index name: ${shown(value)}`);

export const invalidBookmark = (value: unknown): RequestError =>
  new RequestError('invalid_bookmark', `Invalid bookmark value: ${shown(value)}`);

export function readBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new RequestError('invalid_boolean', `Invalid boolean value: ${shown(value)}`);
}

export function readNatural(value: unknown): number {
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  throw new RequestError(
    'invalid_non_neg_integer',
    `${shown(value)} is not an integer greater than or equal to zero`,
  );
}

export function readPositive(value: unknown): number {
  if (Number.isInteger(value) && (value as number) > 0) return value as number;
  throw new RequestError('invalid_pos_integer', `${shown(value)} is not an integer greater than zero`);
}
