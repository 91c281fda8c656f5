import { RequestError } from '../base/errors.js';

export const badArgument = (operator: string, value: unknown): RequestError =>
  new RequestError('bad_arg', `Bad argument for operator ${operator}: ${shown(value)}`);

/** The written interface gives it a status of its own. */
export class BadModulus extends RequestError {
  constructor(value: unknown) {
    super('bad_arg', badArgument('$mod', value).reason);
  }
}

export const invalidOperator = (operator: string): RequestError =>
  new RequestError('invalid_operator', `Invalid operator: ${operator}`);

export const unsupportedOperator = (operator: string): RequestError =>
  new RequestError('not_supported', `Unsupported operator: ${operator}`);

export const invalidTextOperator = (operator: string): RequestError =>
  new RequestError('invalid_operator', `Invalid text operator: ${operator}`);

export const invalidTextField = (): RequestError =>
  new RequestError('bad_field', '$text searches whole documents: it cannot be a condition of a field.');

/** CouchDB's own name, within a selector, for what `$text` searches. */
export const defaultField = (): RequestError =>
  new RequestError('bad_field', '$default is not a field: use $text to search whole documents.');

export const invalidSelector = (reason: string): RequestError => new RequestError('invalid_selector', reason);

/** A value as the client wrote it, cut where it is long. */
export function shown(value: unknown): string {
  // A list in which there is a lot is not written out for the sake of its beginning.
  const some: unknown = Array.isArray(value) && value.length > 200 ? value.slice(0, 200) : value;
  const text = JSON.stringify(some) ?? 'undefined';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
