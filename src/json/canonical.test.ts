import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalBody } from './canonical.js';
import { RandomJson } from '../../test/support/random-json.js';
import { scanDocument } from './scan.js';
import { fromBytes } from '../base/bytes.js';

const keepAll = () => false;

function canonical(text: string, drop: (name: string) => boolean = keepAll): string {
  const scanned = scanDocument(Buffer.from(text));
  assert.ok(scanned.kind === 'object');
  return fromBytes(canonicalBody(scanned, drop));
}

void describe('tokens', () => {
  void test('numbers, strings and the order of members stay as they came', () => {
    const text =
      '{"b":[12345678901234567890,1.0,1e2,-0,1E300],"a":"\\u0041\\/é€😀","10":1,"2":{"z":"\\ud83d\\ude00"}}';
    assert.equal(canonical(text), text);
  });

  void test('white space goes between tokens and stays within strings', () => {
    assert.equal(
      canonical(' {\n\t"a b" : [ 1 , "x  \\" y\\\\" , { } , [ ] ] ,\r\n "c":" é " } '),
      '{"a b":[1,"x  \\" y\\\\",{},[]],"c":" é "}',
    );
  });

  void test('large documents with white space are compacted as small ones', () => {
    const long = 'é'.repeat(700_000);
    assert.equal(canonical(`{ "a" : "${long}" }`), `{"a":"${long}"}`);
  });
});

void describe('dropped members', () => {
  const drop = (name: string) => name !== '_kept';
  const cases = [
    ['{}', '{}'],
    ['{"_id":1}', '{}'],
    ['{"_id":1,"_rev":2}', '{}'],
    ['{"_id":1,"a":2}', '{"a":2}'],
    ['{"a":2,"_id":1}', '{"a":2}'],
    ['{"a":2,"_id":1,"b":3}', '{"a":2,"b":3}'],
    ['{"_id":1,"a":2,"_rev":3,"b":4,"_x":5,"_y":6}', '{"a":2,"b":4}'],
    ['{"_id":1,"_kept":2,"_rev":3}', '{"_kept":2}'],
    ['{"a":{"_id":1}}', '{"a":{"_id":1}}'],
    ['{"\\u005fid":1,"a":2}', '{"a":2}'],
  ] as const;

  void test('leave no trace, wherever they stand', () => {
    for (const [text, expected] of cases) assert.equal(canonical(text, drop), expected, text);
  });

  void test('leave no trace between white space', () => {
    for (const [text, expected] of cases) {
      assert.equal(canonical(text.replace(/[{}:,]/g, ' $& '), drop), expected, text);
    }
  });

  void test('leave no trace where members repeat', () => {
    for (const [text, expected] of cases) {
      const twice = text === '{}' ? text : text.replace('{', '{"_id":0,"_id":0,');
      assert.equal(canonical(twice, drop), expected, text);
    }
  });

  void test('only names with an underscore are asked about', () => {
    canonical('{"a":1,"a":2,"_b":3,"\\u0063":4}', (name) => (assert.equal(name, '_b'), true));
  });
});

void describe('repeated members', () => {
  void test('the first gives the place and the last gives the value', () => {
    assert.equal(canonical('{"a":1,"b":2,"a":3}'), '{"a":3,"b":2}');
    assert.equal(canonical('{"x":[{"a":1,"b":{"c":1,"c":{}},"a":[2]}]}'), '{"x":[{"a":[2],"b":{"c":{}}}]}');
    assert.equal(canonical('{ "__proto__" : 1 , "__proto__" : 2 }'), '{"__proto__":2}');
    assert.equal(canonical('{"":1,"":2.0}'), '{"":2.0}');
  });

  void test('names are compared as they read', () => {
    assert.equal(canonical('{"a":1,"\\u0061":2}'), '{"a":2}');
    assert.equal(canonical('{"\\u00e9tage":1,"b":0,"étage":2}'), '{"\\u00e9tage":2,"b":0}');
    assert.equal(canonical('{"\\ud83d\\ude00":1,"😀":2}'), '{"\\ud83d\\ude00":2}');
    assert.equal(canonical('{"a\\/b":1,"a\\\\/b":2}'), '{"a\\/b":1,"a\\\\/b":2}');
  });

  void test('they are found in large objects, at any place', () => {
    for (const count of [15, 16, 17, 18, 100, 6_000]) {
      const members = Array.from({ length: count }, (_, index) => `"name-${index}":${index}`);
      assert.equal(canonical(`{${members.join(',')}}`), `{${members.join(',')}}`);
      for (const place of [0, count >> 1, count - 1]) {
        const expected = members.with(place, `"name-${place}":true`);
        assert.equal(canonical(`{${members.join(',')},"name-${place}":true}`), `{${expected.join(',')}}`);
      }
    }
  });

  void test('the same names in different objects are no repetition', () => {
    const scanned = scanDocument(Buffer.from('{"a":{"a":{"a":1},"b":[{"a":1},{"a":2}]},"b":1}'));
    assert.ok(scanned.kind === 'object' && scanned.flags === 0);
  });
});

void describe('surrogates', () => {
  void test('half a pair is rejected, in values and in names', () => {
    for (const text of [
      '{"a":"\\ud800"}',
      '{"a":"x\\uDC00y\\ud83d\\ude00"}',
      '{"a":"\\ud800\\ud83d\\ude00"}',
      '{"a":"\\ud800\\u0041"}',
      '{"a":"\\ud800\\\\udc00"}',
      '{"\\ud800":1}',
    ])
      assert.throws(() => canonical(text), { error: 'bad_request' }, text);
  });

  void test('pairs and escaped backslashes are kept as written', () => {
    for (const text of ['{"a":"\\ud83d\\ude00"}', '{"a":"\\\\ud800"}', '{"\\uD83D\\uDE00":1}'])
      assert.equal(canonical(text), text);
  });
});

void describe('random documents', () => {
  void test('mean the same before and after, and are canonical after', (context) => {
    const seed = Date.now() & 0xffffff;
    context.diagnostic(`seed ${seed}`);
    const random = new RandomJson(seed);
    for (let round = 0; round < 5_000; round++) {
      const text = random.object(4);
      const result = canonical(text);
      const label = `seed ${seed} round ${round}: ${text}`;
      assert.deepEqual(JSON.parse(result), JSON.parse(text), label);
      const again = scanDocument(Buffer.from(result));
      assert.ok(again.kind === 'object' && again.flags === 0, label);
      const parsed = JSON.parse(text) as Record<string, unknown>;
      const plain = Object.entries(parsed).filter(([name]) => !name.startsWith('_'));
      assert.deepEqual(JSON.parse(canonical(text, () => true)), Object.fromEntries(plain), label);
    }
  });

  void test('a deep and large document is settled without exhausting the stack', () => {
    const text = `${'{"a":'.repeat(999)}{"b":1,"b":"${'x'.repeat(1_000_000)}"}${'}'.repeat(999)}`;
    assert.equal(canonical(text), text.replace('"b":1,', ''));
  });
});
