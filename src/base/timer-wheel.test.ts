import { SystemRuntime } from './runtime.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimerWheel, type Due } from './timer-wheel.js';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Notes when it is called, and says when it is due again. */
class Waiting implements Due {
  readonly times: number[] = [];
  readonly started = performance.now();

  constructor(private readonly again: number | undefined) {}

  due(now: number): number | undefined {
    this.times.push(now - this.started);
    return this.again;
  }
}

test('each is called when its time has come, once or again and again', async () => {
  const wheel = new TimerWheel(assert.ifError, new SystemRuntime());
  const once = new Waiting(undefined);
  const often = new Waiting(50);
  const later = new Waiting(undefined);
  wheel.add(later, 200);
  wheel.add(once, 50);
  wheel.add(often, 50);
  await pause(400);
  wheel.remove(often);
  assert.equal(once.times.length, 1);
  assert.ok(once.times[0]! >= 50);
  assert.equal(later.times.length, 1);
  assert.ok(later.times[0]! >= 200);
  assert.ok(often.times.length >= 2 && often.times.length <= 8, `${often.times.length}`);
});

test('who was taken away is not called, and may come back', async () => {
  const wheel = new TimerWheel(assert.ifError, new SystemRuntime());
  const one = new Waiting(undefined);
  const other = new Waiting(undefined);
  wheel.add(one, 40);
  wheel.add(other, 40);
  wheel.remove(one);
  wheel.remove(one);
  await pause(120);
  assert.deepEqual([one.times.length, other.times.length], [0, 1]);
  wheel.add(one, 1_000);
  wheel.add(one, 20);
  await pause(100);
  assert.equal(one.times.length, 1);
});

test('thousands who wait take one timer', async () => {
  const wheel = new TimerWheel(assert.ifError, new SystemRuntime());
  const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  const before = timers();
  const many = Array.from({ length: 5_000 }, () => new Waiting(undefined));
  for (const [at, each] of many.entries()) wheel.add(each, 50 + (at % 100));
  assert.ok(timers() <= before + 1);
  await pause(400);
  assert.ok(many.every(({ times }) => times.length === 1));
});

test('one whose call throws does not keep the others from being called', async () => {
  const errors: unknown[] = [];
  const wheel = new TimerWheel((error) => errors.push(error), new SystemRuntime());
  const broken = new Error('broken');
  const other = new Waiting(undefined);
  wheel.add(
    {
      due: () => {
        throw broken;
      },
    },
    20,
  );
  wheel.add(other, 40);
  await pause(150);
  assert.deepEqual(errors, [broken]);
  assert.equal(other.times.length, 1);
});
