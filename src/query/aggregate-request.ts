/**
 * Sums over the documents that match, in place of the documents: this server's own addition to `_find`. A request has
 * `"aggregate": {"group_by": ["city"], "values": {"people": {"$count": true}, "oldest": {"$max": "age"}}}`.
 */
import { RequestError } from '../base/errors.js';
import { parseField } from '../selectors/field-path.js';
import { shown } from '../selectors/refusals.js';

const aggregateOperators = ['$count', '$sum', '$min', '$max', '$avg'] as const;
export type AggregateOperator = (typeof aggregateOperators)[number];

export interface AggregateValue {
  readonly name: string;
  readonly operator: AggregateOperator;
  /** What is added up or compared; undefined for the number of documents. */
  readonly field: string | undefined;
}

export interface Aggregate {
  readonly groupBy: readonly string[];
  readonly values: readonly AggregateValue[];
  /** All fields that are needed. */
  readonly fields: readonly string[];
}

const valuesMax = 100;

const invalid = (reason: string): RequestError => new RequestError('invalid_aggregate', reason);

export function readAggregate(value: unknown): Aggregate {
  if (!isObject(value)) throw invalid(`\`aggregate\` must be an object, not: ${shown(value)}`);
  for (const name of Object.keys(value))
    if (name !== 'group_by' && name !== 'values') throw invalid(`\`aggregate\` has no member ${name}.`);
  const groupBy = value['group_by'] ?? [];
  if (!Array.isArray(groupBy) || !groupBy.every((field) => typeof field === 'string'))
    throw invalid(`\`group_by\` must be an array of fields, not: ${shown(groupBy)}`);
  const listed = value['values'];
  if (!isObject(listed)) throw invalid('`values` must be an object that names what is to be reckoned.');
  const values = Object.entries(listed).map(([name, spec]) => readValue(name, spec));
  if (values.length === 0 || values.length > valuesMax)
    throw invalid(`\`values\` must have 1 to ${valuesMax} members.`);
  const groups = groupBy as string[];
  const clash = values.find(({ name }) => groups.includes(name));
  if (clash !== undefined) throw invalid(`${clash.name} is both a value and a field to group by.`);
  const fields = [...groups, ...values.flatMap(({ field }) => (field === undefined ? [] : [field]))];
  for (const field of fields) parseField(field);
  return { groupBy: groups, values, fields };
}

function readValue(name: string, spec: unknown): AggregateValue {
  const [member, ...others] = isObject(spec) ? Object.entries(spec) : [];
  const [operator, field] = member ?? [];
  if (others.length > 0 || !aggregateOperators.some((each) => each === operator))
    throw invalid(`${name} must be an object with one of ${aggregateOperators.join(', ')}.`);
  if (operator === '$count' && (field === true || typeof field === 'string'))
    return { name, operator, field: field === true ? undefined : field };
  if (typeof field !== 'string') throw invalid(`${operator!} of ${name} must name a field.`);
  return { name, operator: operator as AggregateOperator, field };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
