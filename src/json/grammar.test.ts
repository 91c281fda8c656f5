import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RequestError } from '../base/errors.js';
import { RandomJson } from '../../test/support/random-json.js';
import { scanDocument } from './scan.js';

const isInvalid = (error: unknown) => error instanceof RequestError && error.reason === 'invalid UTF-8 JSON';

function accepts(bytes: Buffer): boolean {
  try {
    scanDocument(bytes);
    return true;
  } catch (error) {
    assert.ok(isInvalid(error), String(error));
    return false;
  }
}

/** What `JSON.parse` reads, without half surrogate pairs and without fractions beyond the range of a double. */
function parses(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('utf8', { fatal: true, ignoreBOM: true }).decode(bytes);
    JSON.parse(text);
    return !hasHalfPair(text) && !hasInfinity(text);
  } catch {
    return false;
  }
}

function hasHalfPair(text: string): boolean {
  const escapes = text.matchAll(/\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\./g);
  return [...escapes].some(([, half]) => half !== undefined);
}

function hasInfinity(text: string): boolean {
  const numbers = text.replace(/"(?:\\.|[^"\\])*"/g, '').match(/-?\d+[.eE][-+.\deE]*/g) ?? [];
  return numbers.some((number) => !Number.isFinite(Number(number)));
}

// prettier-ignore
const good = [
  '{}', '[]', ' { } ', '\t[\r\n]', '""', '"a"', '"ab"', '"abc"', '"abcd"', '0', '-0', '10', '-1.5', '1e2',
  '1E+2', '1.25e-10', 'true', 'false', 'null', '[1,2]', '[[],{}]', '{"":0}', '{"a":{"b":[null]}}',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00Ff"', '"\x7f"', '"é€😀"', '"\\\\ud800"', '"\\ud83d\\ude00"',
  '{"a" : 1 , "b" : [ 1 , 2 ] }', '1e308', '-1.5E-400', '0e999', '1'.repeat(400), `0.${'9'.repeat(400)}`,
];
// prettier-ignore
const bad = [
  '', ' ', '{', '}', '[', ']', '{]', '[}', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '{"a"}', '{"a":}',
  '{"a":1', '{"a":1,}', '{,}', '{a:1}', '{1:1}', '{"a":1 "b":2}', '{"a"::1}', '{"a', '{"a"', '{"a":',
  '{} {}', '{}x', '[]]', '"', '"a', '"\\', '"\\u12', '"\\x"', '"\\u12G4"', '"\\ud800\\u"', '"a\nb"',
  '"\0"', '{"a\tb":1}', '01', '-', '+1', '.5', '1.', '1.e2', '1e', '1e+', '--1', '0x1', '1a', 'tru',
  'truex', 'nul', 'True', 'NaN', 'Infinity', 'undefined', "'a'", '//', '\ufeff{}', '\u00a0{}', '\f{}',
  '\v1', '{"a":1}\0', '"\\ud800"', '"\\udc00"', '{"\\ud800":1}', '"\\ud800\\u0041"', '1e400', '[-1E+309]',
  `${'1'.repeat(400)}.5`, `1${'0'.repeat(250)}e99`,
];

void describe('the grammar', () => {
  void test('all forms of values are accepted', () => {
    for (const text of good) assert.ok(accepts(Buffer.from(text)) && parses(Buffer.from(text)), text);
  });

  void test('whatever breaks a rule is refused', () => {
    for (const text of bad) assert.ok(!accepts(Buffer.from(text)) && !parses(Buffer.from(text)), text);
  });

  void test('every prefix of a text is refused', () => {
    const text = Buffer.from(
      '{"a":[1,-2.5e+3,"x\\u00e9\\n",true,false,null,{"b":{}}],"longer name":"longer value"}',
    );
    for (let length = 0; length < text.length; length++)
      assert.ok(!accepts(text.subarray(0, length)), `${length}`);
  });

  void test('bytes that are not UTF-8 are refused', () => {
    for (const hex of ['80', 'c0af', 'eda080', 'f5808080', 'e282', 'ff']) {
      assert.ok(
        !accepts(Buffer.concat([Buffer.from('{"a":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')])),
        hex,
      );
    }
  });

  void test('the bytes around the range do not count', () => {
    const bytes = Buffer.from('\u00ff12 {"_a":1} 34\u00ff');
    assert.equal(scanDocument(bytes, 4, 14).kind, 'object');
    assert.deepEqual(scanDocument(bytes, 2, 4), { kind: 'other', start: 2, end: 4 });
    assert.throws(() => scanDocument(bytes, 4, 12), isInvalid);
    assert.throws(() => scanDocument(Buffer.from('"abc"'), 0, 4), isInvalid);
    assert.throws(() => scanDocument(Buffer.from('{"abc"'), 0, 5), isInvalid);
  });

  void test('random texts, whole and damaged, are accepted when JSON.parse accepts them', (context) => {
    const seed = Date.now() & 0xffffff;
    context.diagnostic(`seed ${seed}`);
    const random = new RandomJson(seed);
    const alphabet = Buffer.from('{}[]",:\\u0123d8eE+-. \n\t\0tfnal_');
    let accepted = 0;
    for (let round = 0; round < 20_000; round++) {
      const bytes = Buffer.from(random.value(3));
      for (let damage = random.below(3); damage > 0 && bytes.length > 0; damage--) {
        bytes[random.below(bytes.length)] =
          random.below(20) === 0 ? random.below(256) : random.pick([...alphabet]);
      }
      const text = bytes.subarray(0, random.below(8) === 0 ? random.below(bytes.length + 1) : bytes.length);
      if (accepts(text)) accepted++;
      assert.equal(accepts(text), parses(text), `seed ${seed} round ${round}: ${text.toString()}`);
    }
    assert.ok(accepted > 5_000, `${accepted}`);
  });
});
