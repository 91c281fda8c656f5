import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Unavailable } from '../base/errors.js';
import { SystemRuntime } from '../base/runtime.js';
import { CatchingUp } from './catching-up.js';
import { Currency } from './currency.js';

const pauseMs = 3_500;

/** Its clocks stand still until they are set; while a machine sleeps, only the time of day goes on. */
class Clocks extends SystemRuntime {
  at = 0;
  slept = 0;

  override monotonicMs(): number {
    return this.at;
  }

  override now(): number {
    return this.at + this.slept;
  }
}

let clocks: Clocks;
let barriers: number;
/** The questions that are not answered yet. */
let asked: ((last: number) => void)[];
let currency: Currency;

beforeEach(() => {
  clocks = new Clocks();
  barriers = 0;
  asked = [];
  const info = (): Promise<never> =>
    new Promise((resolve) => asked.push((last) => resolve({ last } as never)));
  const replica = { seq: 5, lost: undefined, fresh: () => Promise.resolve(void barriers++) };
  const followed = new Map([['catalogue', { stream: { info }, replica }]] as const);
  currency = new Currency({ isConnected: true }, followed, clocks);
});

test('a question from before a pause tells nothing of what was written meanwhile', async () => {
  const before = currency.look();
  clocks.at += pauseMs;
  let isCurrent = false;
  const current = currency.whenCurrent().then(() => (isCurrent = true));
  asked[0]!(5);
  await before;
  await new Promise(setImmediate);
  assert.deepEqual([isCurrent, asked.length, currency.isStale], [false, 2, true]);
  asked[1]!(5);
  await current;
  assert.deepEqual([currency.mayLag, barriers], [false, 1]);
});

test('an answer that comes after another pause is too old', async () => {
  clocks.at += pauseMs;
  const current = currency.whenCurrent();
  await new Promise(setImmediate);
  clocks.at += pauseMs;
  asked[0]!(5);
  await assert.rejects(current, Unavailable);
});

test('the sleep of a machine counts, of which one clock shows nothing', async () => {
  clocks.slept += pauseMs;
  assert.ok(currency.isStale);
  const current = currency.whenCurrent();
  await new Promise(setImmediate);
  asked[0]!(5);
  await current;
  assert.ok(!currency.isStale);
  // A clock that is set back does not.
  clocks.slept -= 2 * pauseMs;
  assert.ok(!currency.isStale);
});

test('streams are behind after a pause until their barriers are read; a barrier from before the next one does not count', async () => {
  const barriers: (() => void)[] = [];
  const replica = {
    lost: undefined,
    fresh: () => new Promise<void>((resolve) => barriers.push(resolve)),
  };
  const lost = { lost: new Error('gone'), fresh: () => Promise.reject(new Error('gone')) };
  const behind = new CatchingUp(
    new Map([
      [1, { replica }],
      [2, { replica: lost }],
    ] as const),
  );
  await behind.whenCaughtUp(1);
  behind.begin();
  await behind.whenCaughtUp(2);
  const first = behind.whenCaughtUp(1);
  behind.begin();
  barriers[0]!();
  await first;
  assert.ok(behind.isBehind);
  const second = behind.whenCaughtUp(1);
  behind.look();
  assert.equal(barriers.length, 2);
  barriers[1]!();
  await Promise.all([second, behind.whenCaughtUp(2)]);
  assert.ok(!behind.isBehind);
});

test('a barrier that fails is sent again', async () => {
  let fails = true;
  const fresh = (): Promise<void> => (fails ? Promise.reject(new Unavailable('late')) : Promise.resolve());
  const behind = new CatchingUp(new Map([[1, { replica: { lost: undefined, fresh } }]]));
  behind.begin();
  await assert.rejects(behind.whenCaughtUp(1), Unavailable);
  assert.ok(behind.isBehind);
  fails = false;
  await behind.whenCaughtUp(1);
  assert.ok(!behind.isBehind);
});
