import assert from 'node:assert/strict';
import test from 'node:test';
import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import { canonicalBody } from './canonical.js';
import { RandomJson } from '../../test/support/random-json.js';
import { RawFields } from './raw-fields.js';
import { rawName, rawValue } from './raw-value.js';
import { scanDocument } from './scan.js';
import { seed } from '../../test/model/random.js';

const at = (text: string, ...names: string[]): Bytes | undefined =>
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
  for (let round = 0; round < 300; round++) {
    const scanned = scanDocument(Buffer.from(new RandomJson(seed + round).object(4)));
    assert.ok(scanned.kind === 'object');
    const text = canonicalBody(scanned, () => false);
    const walk = (value: unknown, path: string[]): void => {
      const found = at(fromBytes(text), ...path);
      assert.deepEqual(JSON.parse(fromBytes(found!)), value, `TUFFET_SEED=${seed + round} ${path.join()}`);
      if (typeof value !== 'object' || value === null) return;
      for (const [name, each] of Object.entries(value)) walk(each, [...path, name]);
    };
    walk(JSON.parse(fromBytes(text)), []);
  }
});

test('many values are found in one pass, each as by itself', () => {
  for (let round = 0; round < 300; round++) {
    const scanned = scanDocument(Buffer.from(new RandomJson(seed + round).object(4)));
    assert.ok(scanned.kind === 'object');
    const text = canonicalBody(scanned, () => false);
    const paths: string[][] = [[]];
    const walk = (value: unknown, path: string[]): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, each] of [...Object.entries(value), ['9', 1], ['absent', 1]] as [string, unknown][]) {
        if ((paths.length + round) % 3 > 0) paths.push([...path, name]);
        walk(each, [...path, name]);
      }
    };
    walk(JSON.parse(fromBytes(text)), []);
    const names = [...paths, ...paths.slice(-2)].map((path) =>
      path.map((name) => rawName(name, /^\d+$/.test(name) ? Number(name) : undefined)),
    );
    const expected = names.map((path) => rawValue(text, path));
    assert.deepEqual(new RawFields(names).of(text), expected, `TUFFET_SEED=${seed + round}`);
  }
});

test('numbers on many paths lead on in objects and in arrays', () => {
  const path = (field: string) => field.split('.').map((name) => rawName(name, Number(name)));
  const fields = ['0', '00', '0.1', '00.1', '1.0', Array(1_000).fill('0').join('.')];
  const values = (text: string) => new RawFields(fields.map(path)).of(asBytes(text));
  assert.deepEqual(values('[[7,8],[9]]').slice(0, 5), ['[7,8]', '[7,8]', '8', '8', '9']);
  assert.deepEqual(values('{"0":[7,8],"1":{"0":9}}').slice(0, 5), ['[7,8]', undefined, '8', undefined, '9']);
  assert.equal(values(`${'['.repeat(1_000)}5${']'.repeat(1_000)}`)[5], '5');
});

test('a document of many members costs one pass, however many values are looked for', () => {
  const text = asBytes(
    `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":"${'x'.repeat(i % 50)}\\""`).join(',')}}`,
  );
  const paths = Array.from({ length: 1_000 }, (_, i) => [rawName(`z${i}`, undefined)]);
  const cpuMs = (work: () => void): number => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const one = (): void => assert.deepEqual(new RawFields(paths.slice(0, 1)).of(text), [undefined]);
  one();
  const oneMs = Math.max(5, cpuMs(one));
  const manyMs = cpuMs(() => assert.equal(new RawFields(paths).of(text).filter(Boolean).length, 0));
  assert.ok(manyMs < 20 * oneMs, `one: ${oneMs} ms, a thousand: ${manyMs} ms`);
  const rawMs = cpuMs(() => assert.equal(rawValue(text, paths[0]!), undefined));
  assert.ok(rawMs < 20 * oneMs, `one by itself: ${rawMs} ms`);
});
