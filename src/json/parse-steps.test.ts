import assert from 'node:assert/strict';
import test from 'node:test';
import { RandomJson } from '../../test/support/random-json.js';
import { seed } from '../../test/model/random.js';
import { parseInSteps } from './parse-steps.js';
import { parseJson } from './scan.js';

function parsed(bytes: Buffer, runBytes?: number): { value: unknown; steps: number } {
  const steps = parseInSteps(bytes, runBytes);
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { value: step.value, steps: count };
  }
}

/** Its text tells the order of members, too. */
const outcome = (work: () => unknown): unknown => {
  try {
    const value = work();
    return { value, text: JSON.stringify(value) };
  } catch (error) {
    return String(error);
  }
};

test('a text is parsed in steps as it is in one go', () => {
  for (let round = 0; round < 1_000; round++) {
    const json = new RandomJson(seed + round);
    let text = round % 4 === 0 ? json.value(5) : json.object(5);
    if (round % 7 === 0) text = text.slice(0, -1 - (round % 3));
    if (round % 11 === 0) text += [',', ']', '1', '}'][round % 4];
    if (round % 13 === 0) text = text.replace(',', [',,', '', ':'][round % 3]!);
    const bytes = Buffer.from(text);
    const expected = outcome(() => parseJson(bytes));
    for (const runBytes of [undefined, 1 + (round % 40)])
      assert.deepEqual(
        outcome(() => parsed(bytes, runBytes).value),
        expected,
        `TUFFET_SEED=${seed + round} ${runBytes} ${text}`,
      );
  }
});

test('a text nested as deep as can be is parsed, and one level more is refused', () => {
  const nested = (depth: number): Buffer =>
    Buffer.from(`${'['.repeat(depth)}"${'x'.repeat(100)}"${']'.repeat(depth)}`);
  assert.deepEqual(parsed(nested(1_000), 10).value, JSON.parse(nested(1_000).toString()));
  for (const runBytes of [10, undefined])
    assert.throws(() => parsed(nested(1_001), runBytes), { reason: 'JSON nested deeper than 1000 levels' });
});

test('what is not UTF-8 is refused', () => {
  assert.throws(() => parsed(Buffer.from([0x22, 0xff, 0x22])), { reason: 'invalid UTF-8 JSON' });
});

test('a list of many numbers and an object of many members are parsed in many steps', () => {
  const list = `[${'1,'.repeat(100_000)}2]`;
  const object = `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`;
  for (const text of [list, `{"a":{"b":${list}}}`, object]) {
    const { value, steps } = parsed(Buffer.from(text));
    assert.deepEqual(value, JSON.parse(text));
    assert.ok(steps > 5, `${steps} steps`);
  }
});
