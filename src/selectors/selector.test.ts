import assert from 'node:assert/strict';
import test from 'node:test';
import { RequestError } from '../base/errors.js';
import { selectorJson } from './node.js';
import { compileSelector } from './selector.js';

const matches = (selector: unknown, doc: unknown): boolean => compileSelector(selector).matches(doc);

function refusal(selector: unknown): { error: string; reason: string } {
  try {
    compileSelector(selector);
  } catch (error) {
    assert.ok(error instanceof RequestError);
    return { error: error.error, reason: error.reason };
  }
  return assert.fail(`${JSON.stringify(selector)} was taken`);
}

test('what is no selector is refused by name', () => {
  const cases: [unknown, string, string][] = [
    [[], 'invalid_selector_json', 'Selector must be a JSON object, not: []'],
    [null, 'invalid_selector_json', 'Selector must be a JSON object, not: null'],
    [{ $gt: 1 }, 'invalid_selector', 'One or more conditions is missing a field name.'],
    [{ '': 1 }, 'invalid_selector', 'One or more conditions is missing a field name.'],
    [{ a: { $nope: 1 } }, 'invalid_operator', 'Invalid operator: $nope'],
    [{ a: { $regex: 5 } }, 'invalid_operator', 'Invalid operator: $regex'],
    [{ a: { $beginsWith: true } }, 'invalid_operator', 'Invalid operator: $beginsWith'],
    [{ $where: 'x' }, 'not_supported', 'Unsupported operator: $where'],
    [{ $text: 'x' }, 'not_supported', 'Unsupported operator: $text'],
    [{ $and: 1 }, 'bad_arg', 'Bad argument for operator $and: 1'],
    [{ $not: [{ a: 1 }] }, 'bad_arg', 'Bad argument for operator $not: [{"a":1}]'],
    [{ a: { $mod: [2, 0.5] } }, 'bad_arg', 'Bad argument for operator $mod: [2,0.5]'],
    [{ a: { $mod: [0, 0] } }, 'bad_arg', 'Bad argument for operator $mod: [0,0]'],
    [{ a: { $size: -1 } }, 'bad_arg', 'Bad argument for operator $size: -1'],
    [{ a: { $regex: '(' } }, 'bad_arg', 'Bad argument for operator $regex: "(": missing )'],
    [{ 'a..b': 1 }, 'invalid_field_name', 'Invalid field name: a..b'],
    [{ a: { '': 1 } }, 'invalid_field_name', 'Invalid field name: a.'],
  ];
  for (const [selector, error, reason] of cases) assert.deepEqual(refusal(selector), { error, reason });
});

test('a selector that is nested without end or has conditions without number is refused', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`) as unknown;
  assert.equal(refusal(deep).error, 'invalid_selector');
  assert.equal(refusal({ $or: Array.from({ length: 10_001 }, () => ({ a: 1 })) }).error, 'invalid_selector');
});

test('the normal form has whole paths, and negations at the conditions', () => {
  const cases: [unknown, unknown][] = [
    [{}, {}],
    [{ a: 1, b: 2 }, { $and: [{ a: { $eq: 1 } }, { b: { $eq: 2 } }] }],
    [{ a: { b: { c: 1 } } }, { 'a.b.c': { $eq: 1 } }],
    [{ a: { $gt: 1, $lt: 5 } }, { $and: [{ a: { $gt: 1 } }, { a: { $lt: 5 } }] }],
    [{ $nor: [{ a: 1 }, { b: { $in: [1] } }] }, { $and: [{ a: { $ne: 1 } }, { b: { $nin: [1] } }] }],
    [{ $not: { a: { $regex: 'x' } } }, { a: { $not: { $regex: 'x' } } }],
    [
      { a: { $elemMatch: { b: 1, c: { $not: { $eq: 2 } } } } },
      { a: { $elemMatch: { $and: [{ b: { $eq: 1 } }, { $not: { c: { $eq: 2 } } }] } } },
    ],
  ];
  for (const [selector, normal] of cases)
    assert.deepEqual(selectorJson(compileSelector(selector).normal), normal);
});

test('a negation asks for the field; below $elemMatch it does not', () => {
  assert.equal(matches({ $not: { a: 1 } }, { a: 2 }), true);
  assert.equal(matches({ $not: { a: 1 } }, {}), false);
  assert.equal(matches({ a: { $elemMatch: { $not: { b: 1 } } } }, { a: [{}] }), true);
});

test('names that every object answers to are no fields', () => {
  for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
    assert.equal(matches({ [name]: { $exists: true } }, {}), false);
    assert.equal(matches({ $or: [{ a: 1 }, { [`a.${name}`]: { $exists: false } }] }, { a: {} }), true);
  }
  assert.equal(matches(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')), true);
});

test('ids are compared by their bytes, other texts by collation', () => {
  assert.equal(matches({ _id: { $gt: 'Z' } }, { _id: 'a' }), true);
  assert.equal(matches({ name: { $gt: 'Z' } }, { name: 'a' }), false);
  assert.equal(matches({ _id: 'é' }, { _id: 'e\u0301' }), false);
  assert.equal(matches({ name: 'é' }, { name: 'e\u0301' }), true);
  assert.equal(matches({ _id: { $gt: '\ufffd' } }, { _id: '😀' }), true);
});

test('the members a selector looks at are told', () => {
  const { members } = compileSelector({ 'a.b': 1, $or: [{ _id: 'x' }, { $not: { 'c\\.d': 1 } }] });
  assert.deepEqual([...members], ['a', '_id', 'c.d']);
});
