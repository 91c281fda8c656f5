import { fromBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import type { Exchange } from '../exchange.js';
import { namedPartition, pathPartition } from './partition-path.js';
import { parseJsonText } from './query.js';

/** A parameter from the query string, which is text, or from a JSON body, which is a value. */
export type Parameter = { text: string } | { value: unknown };

/** Rows that one query of a view may ask for. */
const viewLimitMax = 268_435_456;

export function checkViewLimit(limit: number, max = viewLimitMax): void {
  if (limit !== Infinity && limit > max) throw parseError(`Limit is too large, must not exceed ${max}`);
}

/** How many elements of keys make a group, where one asks for groups. */
export function groupLevelOf(group: boolean | undefined, level: number | undefined): number {
  if (group === false && (level ?? 0) > 0)
    throw parseError("Can't specify group=false and group_level>0 at the same time");
  // A level that is given counts, even if it is 0.
  return level ?? (group === true ? Infinity : 0);
}

export const parseError = (reason: string): RequestError => new RequestError('query_parse_error', reason);

export function boolean(parameter: Parameter): boolean {
  const value = 'text' in parameter ? parameter.text : parameter.value;
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (word === 'true' || word === 'false') return word === 'true';
  throw parseError(`Invalid boolean parameter: ${shown(parameter)}`);
}

export function positive(parameter: Parameter): number {
  const isText = 'text' in parameter;
  const value = isText ? (wholeNumber.test(parameter.text) ? Number(parameter.text) : NaN) : parameter.value;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0)
    return Math.min(value, Number.MAX_SAFE_INTEGER);
  const kind = typeof value === 'number' && Number.isInteger(value) ? 'positive integer' : 'integer';
  throw parseError(`Invalid value for ${kind}: ${shown(parameter)}`);
}

/** An empty text of the query string is an empty list in CouchDB, and shown so. */
const shown = (parameter: Parameter): string =>
  'text' in parameter
    ? parameter.text === ''
      ? '[]'
      : JSON.stringify(parameter.text)
    : JSON.stringify(parameter.value);

const wholeNumber = /^[+-]?\d+$/;

export const json = (parameter: Parameter): unknown =>
  'text' in parameter ? parseJsonText(parameter.text) : parameter.value;

/**
 * A document id. Numbers, booleans and null in a body stand for their texts, as they do in a query string; lists and
 * objects stand before all texts.
 */
export function text(parameter: Parameter): string {
  const value = 'text' in parameter ? parameter.text : parameter.value;
  return typeof value === 'object' && value !== null ? '' : String(value);
}

export function partitionName(parameter: Parameter): Bytes {
  if ('value' in parameter && typeof parameter.value === 'object' && parameter.value !== null)
    throw new RequestError('illegal_partition', 'Partition must be a string');
  return namedPartition(text(parameter));
}

export function list(parameter: Parameter, member = '`keys` body member'): readonly unknown[] {
  const value = json(parameter);
  if (Array.isArray(value)) return checkKeyCount(value);
  throw badRequest(`${'text' in parameter ? '`keys` parameter' : member} must be an array.`);
}

/** Keys of one query. */
const keysMax = 250_000;

export function checkKeyCount(keys: readonly unknown[]): readonly unknown[] {
  if (keys.length > keysMax) throw new RequestError('too_large', `A query may have ${keysMax} keys at most.`);
  return keys;
}

export function choice(parameter: Parameter, name: string, choices: readonly string[]): void {
  const value = 'text' in parameter ? parameter.text : String(parameter.value);
  if (!choices.includes(value)) throw parseError(`Invalid value for \`${name}\`.`);
}

/**
 * Of the query string, all that are given, so that none may be wrong; and the partition that the path names. Below one, the
 * first value of a parameter counts.
 */
export function* queryParameters(exchange: Exchange, database: Database): Generator<[string, Parameter]> {
  const partition = pathPartition(exchange, database);
  if (partition === undefined) {
    for (const [name, text] of exchange.query.all()) yield [name, { text }];
  } else {
    for (const [name] of exchange.query.entries()) yield [name, { text: exchange.query.first(name)! }];
    yield ['partition', { text: fromBytes(partition) }];
  }
}

/** What the query string says for all of several queries: no grouping, and a list of keys only where it is of one. */
export function sharedParameters(exchange: Exchange, database: Database): [string, Parameter][] {
  return [...queryParameters(exchange, database)].flatMap(([name, parameter]): [string, Parameter][] => {
    if (name === 'group' || name === 'group_level') return [];
    if (name !== 'keys') return [[name, parameter]];
    const keys = json(parameter);
    return Array.isArray(keys) && keys.length === 1 ? [['key', { value: keys[0] }]] : [];
  });
}

export function* bodyParameters(body: Record<string, unknown>): Generator<[string, Parameter]> {
  for (const [name, value] of Object.entries(body)) yield [name, { value }];
}
