import type { RandomSource } from './source.js';

const fields = ['n', 's', 'tags', 'nested.p', 'flag', '_id', 'v', 'tags.0'];
const values: readonly unknown[] = [
  0,
  1,
  2,
  3,
  -7.5,
  'one',
  'two',
  'Two',
  '',
  'ü',
  true,
  false,
  null,
  [],
  ['y'],
  {},
  { p: 1 },
];
const types = ['null', 'boolean', 'number', 'string', 'array', 'object', 'x'];

/** A selector of a few operators, most of them well-formed. */
export function randomSelector(random: RandomSource, depth = 2): Record<string, unknown> {
  if (depth > 0 && random.chance(0.35)) return combined(random, depth);
  const chosen = random.shuffle(fields).slice(0, 1 + random.below(2));
  return Object.fromEntries(chosen.map((field) => [field, condition(random, depth)]));
}

function combined(random: RandomSource, depth: number): Record<string, unknown> {
  const operator = random.pick(['$and', '$or', '$nor', '$not']);
  if (operator === '$not') return { $not: randomSelector(random, depth - 1) };
  const length = random.chance(0.1) ? 0 : 1 + random.below(2);
  const parts = Array.from({ length }, () => (random.chance(0.05) ? {} : randomSelector(random, depth - 1)));
  return { [operator]: parts, ...(random.chance(0.3) ? randomSelector(random, 0) : {}) };
}

function condition(random: RandomSource, depth: number): unknown {
  if (random.chance(0.2)) return random.pick(values);
  const operators = random.shuffle(Object.keys(operands)).slice(0, 1 + random.below(2));
  return Object.fromEntries(operators.map((operator) => [operator, operands[operator]!(random, depth)]));
}

type Operand = (random: RandomSource, depth: number) => unknown;

const anyValue: Operand = (random) => random.pick(values);
const someValues: Operand = (random) => random.some(values, 3);

const operands: Readonly<Record<string, Operand>> = {
  $gt: anyValue,
  $gte: anyValue,
  $lt: anyValue,
  $lte: anyValue,
  $eq: anyValue,
  $ne: anyValue,
  $in: someValues,
  $nin: someValues,
  $all: someValues,
  $exists: (random) => random.chance(0.6),
  $type: (random) => random.pick(types),
  $size: (random) => random.below(3),
  $mod: (random) => [1 + random.below(3), random.below(2)],
  $regex: (random) => random.pick(['^t', 'o', 'T.o$', '[a-f]+']),
  $beginsWith: (random) => random.pick(['t', '', 'on', 'ü']),
  $elemMatch: (random, depth) => condition(random, depth - 1),
  $allMatch: (random, depth) => condition(random, depth - 1),
  $keyMapMatch: (random) => ({ $eq: random.pick(['p', 'q']) }),
  $not: (random, depth) => (depth > 0 ? condition(random, depth - 1) : { $eq: 1 }),
};

/** The body of a `_find` or `_explain`. */
export function randomQuery(random: RandomSource): Record<string, unknown> {
  const query: Record<string, unknown> = { selector: randomSelector(random) };
  if (random.chance(0.3)) query['fields'] = random.some(fields, 3);
  if (random.chance(0.3))
    query['sort'] = random.pick([['n'], [{ n: 'desc' }], ['s', 'n'], ['_id'], ['v'], [{ s: 'asc' }]]);
  if (random.chance(0.3)) query['limit'] = random.below(4);
  if (random.chance(0.2)) query['skip'] = random.below(3);
  if (random.chance(0.2))
    query['use_index'] = random.pick(['by-n', ['by-sn', 'by-sn'], '_design/by-n', 'nope', ['nope', 'x']]);
  if (random.chance(0.1)) query['conflicts'] = true;
  if (random.chance(0.1)) query['execution_stats'] = true;
  if (random.chance(0.1)) query['allow_fallback'] = random.chance(0.5);
  return query;
}
