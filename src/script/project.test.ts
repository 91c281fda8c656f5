import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes, toBytes } from '../base/bytes.js';
import { joinDocs, splitArray } from './project.js';

/** The one document, with no more than these members. */
const pickMembers = (doc: string, names: Set<string>): string => joinDocs([asBytes(doc)], names).slice(1, -1);

describe('picking members', () => {
  const pick = (doc: string, ...names: string[]): string => pickMembers(doc, new Set(names));

  test('leaves the text of what is picked as it is', () => {
    const doc = '{"_id":"x","a":1.0,"b":{"c":[1,{"d":"}"}],"e":"\\"]"},"f":"","g":[],"h":null}';
    assert.equal(pick(doc, 'a'), '{"a":1.0}');
    assert.equal(pick(doc, 'b', 'h'), '{"b":{"c":[1,{"d":"}"}],"e":"\\"]"},"h":null}');
    assert.equal(pick(doc, 'g', 'f', '_id'), '{"_id":"x","f":"","g":[]}');
    assert.equal(pick(doc), '{}');
    assert.equal(pick(doc, 'c', 'd'), '{}');
    assert.equal(pick('{}', 'a'), '{}');
    assert.equal(pick('{"a":"\\\\"}', 'a'), '{"a":"\\\\"}');
  });

  test('keeps members whose names are written with escapes', () => {
    assert.equal(pick('{"\\u0061":1,"b":2,"q\\"":3}', 'a'), '{"\\u0061":1,"q\\"":3}');
  });

  test('gives back whole what has white space', () => {
    for (const doc of ['{ "a":1,"b":2}', '{"a" :1,"b":2}', '{"a":1, "b":2}', '{"a":1,"b":2} '])
      assert.equal(pick(doc, 'a'), doc);
  });

  test('agrees with parsing, on any document', () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    const value = (depth: number): unknown => {
      const kind = random(depth > 3 ? 4 : 6);
      if (kind < 4) return [null, random(1000) / 8, 'a"\\b,{}[]é', true][kind];
      const list = Array.from({ length: random(4) }, () => value(depth + 1));
      return kind === 4 ? list : Object.fromEntries(list.map((each, i) => [`m${i}`, each]));
    };
    for (let i = 0; i < 300; i++) {
      const doc = Object.fromEntries(Array.from({ length: 5 }, (_, k) => [`n${k}`, value(0)]));
      const names = ['n0', 'n2', 'n4', 'm1'];
      const wanted = Object.fromEntries(Object.entries(doc).filter(([name]) => names.includes(name)));
      assert.equal(
        pickMembers(toBytes(JSON.stringify(doc)), new Set(names)),
        toBytes(JSON.stringify(wanted)),
      );
      const list = Object.values(doc).map((each) => toBytes(JSON.stringify(each)));
      assert.deepEqual(splitArray(asBytes(`[${list.join(',')}]`)), list);
    }
  });
});

test('documents are joined to one array', () => {
  assert.equal(joinDocs([asBytes('{"a":1,"b":2}'), asBytes('{}')], undefined), '[{"a":1,"b":2},{}]');
  assert.equal(joinDocs([asBytes('{"a":1,"b":2}'), asBytes('{}')], new Set(['b'])), '[{"b":2},{}]');
  assert.equal(joinDocs([], undefined), '[]');
  assert.deepEqual(splitArray(asBytes('[]')), []);
});
