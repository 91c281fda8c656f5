import assert from 'node:assert/strict';
import test from 'node:test';
import { fromBytes, toBytes } from '../base/bytes.js';
import { canonicalBody } from './canonical.js';
import { RandomJson } from './random-json.js';
import { rawName, rawValue } from './raw-value.js';
import { scanDocument } from './scan.js';

const at = (text: string, ...names: string[]): string | undefined =>
  rawValue(
    toBytes(text),
    names.map((name) => rawName(name, /^\d+$/.test(name) ? Number(name) : undefined)),
  );

test('a value comes out as it stands in the text', () => {
  const text = '{"a":1.0,"b":{"c":[1e2,"x,]}",{"d":12345678901234567890}]},"\\u0065":"\\"","é":[]}';
  assert.equal(at(text, 'a'), '1.0');
  assert.equal(at(text, 'b', 'c', '0'), '1e2');
  assert.equal(at(text, 'b', 'c', '1'), '"x,]}"');
  assert.equal(at(text, 'b', 'c', '2', 'd'), '12345678901234567890');
  assert.equal(at(text, 'e'), '"\\""');
  assert.equal(at(text, 'é'), '[]');
  assert.equal(at(text), toBytes(text));
});

test('where a path leads nowhere there is nothing', () => {
  for (const path of [['x'], ['a', 'b'], ['b', '0'], ['c', '3'], ['c', 'd'], ['c', '0', '0'], ['d', '0']])
    assert.equal(at('{"a":1,"b":{},"c":[1,2,[]],"d":[]}', ...path), undefined, path.join());
});

test('every value of any document is found where the parsed document has it', () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  for (let round = 0; round < 300; round++) {
    const scanned = scanDocument(Buffer.from(new RandomJson(seed + round).object(4)));
    assert.ok(scanned.kind === 'object');
    const text = canonicalBody(scanned, () => false);
    const walk = (value: unknown, path: string[]): void => {
      const found = at(fromBytes(text), ...path);
      assert.deepEqual(JSON.parse(fromBytes(found!)), value, `SEED=${seed + round} ${path.join()}`);
      if (typeof value !== 'object' || value === null) return;
      for (const [name, each] of Object.entries(value)) walk(each, [...path, name]);
    };
    walk(JSON.parse(fromBytes(text)), []);
  }
});
