import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RequestError } from '../base/errors.js';
import { RandomJson } from '../../test/support/random-json.js';
import { parseJson, scanBulk, scanDocument } from './scan.js';
import { jsonDepthMax } from './walker.js';

const isInvalid = (error: unknown) => error instanceof RequestError && error.reason === 'invalid UTF-8 JSON';
const isTooDeep = (error: unknown) =>
  error instanceof RequestError && error.reason.includes('deeper than 1000 levels');
const scanned = (text: string | Buffer) => {
  const result = scanDocument(Buffer.from(text));
  assert.equal(result.kind, 'object');
  return result.kind === 'object' ? result : assert.fail();
};

void describe('depth', () => {
  const nested = (open: string, core: string, close: string, depth: number) =>
    Buffer.from(open.repeat(depth) + core + close.repeat(depth));
  const shapes = [
    ['[', '', ']'],
    ['{"a":', '1', '}'],
  ] as const;

  void test('the bound itself is accepted and one more is refused', () => {
    for (const [open, core, close] of shapes) {
      scanDocument(nested(open, core, close, jsonDepthMax));
      parseJson(nested(open, core, close, jsonDepthMax));
      assert.throws(() => scanDocument(nested(open, core, close, jsonDepthMax + 1)), isTooDeep);
      assert.throws(() => parseJson(nested(open, core, close, jsonDepthMax + 1)), isTooDeep);
      assert.throws(() => scanDocument(nested(open, core, close, 1_000_000)), isTooDeep);
    }
  });

  void test('an element of a bulk body may be as deep as a document alone', () => {
    const bulk = (depth: number) => Buffer.from(`{"docs":[${nested('{"a":', '1', '}', depth).toString()}]}`);
    assert.equal(scanBulk(bulk(jsonDepthMax), 'docs')?.elements?.length, 1);
    assert.throws(() => scanBulk(bulk(jsonDepthMax + 1), 'docs'), isTooDeep);
  });

  void test('a refused text leaves nothing behind for the next', () => {
    assert.throws(() => scanDocument(Buffer.from('{"a":{"b":1,"c":{"b"')), isInvalid);
    assert.equal(scanned('{"b":1,"a":{"b":1}}').flags, 0);
  });
});

void describe('members', () => {
  void test('special members are found with their offsets, however they are written', () => {
    const text = '{"a":{"_id":1}, "_id" : "x","\\u005frev":[1],"_\\u0061":{},"b_":2,"\\u0061":3,"_":4}';
    const found = scanned(text).special.map((member) => [
      member.name,
      text.slice(member.keyStart, member.keyEnd),
      text.slice(member.valueStart, member.valueEnd),
    ]);
    assert.deepEqual(found, [
      ['_id', '"_id"', '"x"'],
      ['_rev', '"\\u005frev"', '[1]'],
      ['_a', '"_\\u0061"', '{}'],
      ['_', '"_"', '4'],
    ]);
  });

  void test('the last value of a repeated name counts', () => {
    const text = '{"_a":1,"_b":2,"\\u005fa":3}';
    const found = scanned(text).special.map(({ name, valueStart, valueEnd }) => [
      name,
      text.slice(valueStart, valueEnd),
    ]);
    assert.deepEqual(found, [
      ['_a', '3'],
      ['_b', '2'],
    ]);
  });

  void test('values that are no objects are told apart', () => {
    for (const text of ['[{}]', '"{}"', '1', 'null']) {
      assert.deepEqual(scanDocument(Buffer.from(` ${text} `)), {
        kind: 'other',
        start: 1,
        end: 1 + text.length,
      });
    }
  });
});

void describe('bulk bodies', () => {
  const bulk = (text: string) => scanBulk(Buffer.from(text), 'docs');

  void test('members and elements come from one pass', () => {
    const text = '{"new_edits":false, "docs":[{"_id":"a"} , 1,{ "b":2}], "x":[{}]}';
    const result = bulk(text);
    assert.deepEqual(
      result?.members.map(({ name }) => name),
      ['new_edits', 'docs', 'x'],
    );
    assert.deepEqual(
      result?.elements?.map(({ start, end }) => text.slice(start, end)),
      ['{"_id":"a"}', '1', '{ "b":2}'],
    );
    assert.deepEqual(
      result?.elements?.map((element) => element.kind === 'object' && element.flags),
      [0, false, 1],
    );
  });

  void test('an element is what the same document is alone', () => {
    const random = new RandomJson(7);
    for (let round = 0; round < 500; round++) {
      const text = random.object(3).trim();
      const alone = scanned(text);
      const element = bulk(`{"docs":[${text}]}`)?.elements?.[0];
      assert.ok(element?.kind === 'object');
      assert.equal(element.flags, alone.flags);
      const places = element.special.map(({ name, valueStart }) => [name, valueStart - '{"docs":['.length]);
      assert.deepEqual(
        places,
        alone.special.map(({ name, valueStart }) => [name, valueStart]),
      );
    }
  });

  void test('there are no elements without an array of that name', () => {
    assert.equal(bulk('{}')?.elements, undefined);
    assert.equal(bulk('{"docs":{}}')?.elements, undefined);
    assert.equal(bulk('{"docs":[1],"docs":1}')?.elements, undefined);
    assert.equal(bulk('{"docs":[],"docs":[1]}')?.elements?.length, 1);
    assert.deepEqual(bulk('{"docs":[]}')?.elements, []);
    assert.equal(bulk('[{"docs":[]}]'), undefined);
  });

  void test('a damaged body is refused as a whole', () => {
    for (const text of [
      '',
      '{"docs":[',
      '{"docs":[{}',
      '{"docs":[{}}',
      '{"docs":[{},]}',
      '{"docs":[{}]}x',
      '[1',
    ]) {
      assert.throws(() => bulk(text), isInvalid, text);
    }
  });
});

void test('parseJson gives values and keeps __proto__ an ordinary member', () => {
  const value = parseJson(Buffer.from(' {"a":[1,"é"],"__proto__":{"b":1}} ')) as Record<string, unknown>;
  assert.deepEqual(value['a'], [1, 'é']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal((value as { b?: unknown }).b, undefined);
  assert.throws(() => parseJson(Buffer.from('{"a":1')), isInvalid);
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0x22])), isInvalid);
});
