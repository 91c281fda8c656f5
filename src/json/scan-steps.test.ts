import assert from 'node:assert/strict';
import test from 'node:test';
import { canonicalBody } from './canonical.js';
import { RandomJson } from '../../test/support/random-json.js';
import { membersInSteps, scanInSteps } from './scan-steps.js';
import { scanDocument, type ScannedValue } from './scan.js';
import { settle, settleInSteps } from './settle.js';
import { unsettled } from './walker.js';
import { seed } from '../../test/model/random.js';

const tooLarge = (): Error => new Error('too large');

function scanned(bytes: Buffer, valueBytesMax = Infinity, stepBytes?: number): ScannedValue {
  const steps = scanInSteps(bytes, valueBytesMax, '_attachments', tooLarge, stepBytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    // Another scan in between does no harm.
    scanDocument(Buffer.from('{"a":{"b":1},"a":2}'));
  }
}

const outcome = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return String(error);
  }
};

test('a document is scanned in steps as it is in one go', () => {
  for (let round = 0; round < 500; round++) {
    let text = new RandomJson(seed + round).object(4);
    if (round % 5 === 0) text = ` ${text.replace('{', '{ "_id" :"x", "_id":"y",')} `;
    if (round % 7 === 0) text = text.slice(0, -1 - (round % 3));
    const bytes = Buffer.from(text);
    const expected = outcome(() => scanDocument(bytes));
    for (const stepBytes of [undefined, 1 + (round % 40)])
      assert.deepEqual(
        outcome(() => scanned(bytes, Infinity, stepBytes)),
        expected,
        `TUFFET_SEED=${seed + round} ${stepBytes} ${text}`,
      );
  }
});

test('a document of many members is scanned in many steps', () => {
  const bytes = Buffer.from(`{${Array.from({ length: 2_000 }, (_, i) => `"k${i % 1_900}":${i}`).join(',')}}`);
  // Comparing the names is one of its own.
  assert.equal([...scanInSteps(bytes, Infinity, '', tooLarge)].length, 10);
  const object = scanned(bytes);
  assert.ok(object.kind === 'object');
  const steps = settleInSteps(object, () => false);
  let count = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) {
      assert.equal(
        step.value,
        settle(object, () => false),
      );
      assert.equal(
        step.value,
        canonicalBody(object, () => false),
      );
      break;
    }
    count++;
  }
  assert.ok(count > 2, `${count} steps`);
});

test('a large value is scanned in many steps, however it nests', () => {
  const nested = `${'[{"a":['.repeat(300)}${'[],'.repeat(1_000_000)}1${']}]'.repeat(300)}`;
  for (const value of [`[${'[],'.repeat(1_000_000)}1]`, nested]) {
    const bytes = Buffer.from(`{"a":${value}}`);
    const steps = [...scanInSteps(bytes, Infinity, '', tooLarge)].length;
    assert.ok(steps > bytes.length / 300_000, `${steps} steps`);
    assert.throws(() => [...scanInSteps(bytes, 2_000_000, '', tooLarge)], /too large/);
  }
});

test('the members of an object are found in steps, each name once, with its last value', () => {
  const members = (text: string): unknown => {
    const steps = membersInSteps(Buffer.from(text));
    for (;;) {
      const step = steps.next();
      if (step.done)
        return step.value?.map(({ name, valueStart, valueEnd }) => [name, text.slice(valueStart, valueEnd)]);
    }
  };
  assert.deepEqual(members(' {"a" : 1, "b":{"a":[2]},"\\u0061":"x"} '), [
    ['a', '"x"'],
    ['b', '{"a":[2]}'],
  ]);
  assert.deepEqual(members('{}'), []);
  assert.equal(members('[{}]'), undefined);
  assert.throws(() => members('{"a":1}x'), /JSON/);
});

const stepsOf = (text: string, stepBytes?: number): number =>
  [...scanInSteps(Buffer.from(text), Infinity, '', tooLarge, stepBytes)].length;

test('the end of a long string is looked for in many steps, wherever the string stands', () => {
  const long = `"${'x\\"\\u00e4\\\\'.repeat(400_000)}"`;
  for (const value of [long, `[1,${long}]`, `{"a":[${long},2],"b":1}`]) {
    assert.ok(stepsOf(`{"a":${value}}`) > value.length / 300_000);
    for (const stepBytes of [1_000, 1_001, 1_002, 1_003])
      assert.ok(stepsOf(`{"a":${value}}`, stepBytes) > 2_000);
  }
  assert.throws(() => stepsOf(`{"a":[${long.slice(0, -1)}`), /JSON/);
  assert.throws(() => stepsOf(`{"a":["${'x'.repeat(1_000_000)}\n"]}`), /JSON/);
});

test('the names of a large object are compared in many steps, however deep it stands', () => {
  const count = 300_000;
  const names = Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',');
  const atTop = stepsOf(`{${names}}`);
  assert.ok(atTop > count / 256 + (6 * count) / 32_768, `${atTop} steps`);
  // What is between the pauses within a value is longer, and is not what this is about.
  const inside = stepsOf(`{"a":[{"b":{${names}}}],"c":1}`);
  assert.ok(inside > (6 * count) / 32_768, `${inside} steps`);
  const flagsOf = (text: string): number | undefined => {
    const object = scanned(Buffer.from(text));
    return object.kind === 'object' ? object.flags : undefined;
  };
  for (const [before, behind] of [
    ['', ''],
    ['{"a":[{"b":', '}],"c":1}'],
  ]) {
    assert.equal(flagsOf(`${before}{${names}}${behind}`), 0);
    assert.equal(flagsOf(`${before}{${names},"k7":1}${behind}`), unsettled);
  }
});

test('a value that is too large is not looked at to its end', () => {
  const within = `{"_attachments":{"a":"${'x'.repeat(500)}"},"b":[${'1,'.repeat(40)}1]}`;
  assert.equal(scanned(Buffer.from(within), 100).kind, 'object');
  for (const value of [
    `"${'x'.repeat(100)}"`,
    `[${'1,'.repeat(50)}1]`,
    '1'.repeat(101),
    `[${'1,'.repeat(50)}x`,
  ])
    assert.throws(() => scanned(Buffer.from(`{"a":1,"b":${value},"c":2}`), 100), /too large/, value);
  assert.throws(() => scanned(Buffer.from('{"a":nul}'), 100), /JSON/);
  assert.equal(scanned(Buffer.from(`[${'1,'.repeat(50)}1]`), 100).kind, 'other');
});
