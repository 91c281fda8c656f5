import { SystemRuntime } from './runtime.js';
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Budget } from './budget.js';

const runtime = new SystemRuntime();

const lookMs = 2;
/** A budget's own timer does not keep a process alive. */
const alive = setInterval(() => undefined, 1_000);
after(() => clearInterval(alive));

describe('A budget', () => {
  test('gives shares as long as there is room, and again what was released', () => {
    const budget = new Budget(() => 100, 1_000, runtime);
    const [first, second] = [budget.share(), budget.share()];
    assert.ok(first.tryGrow(60));
    assert.ok(!second.tryGrow(60));
    assert.ok(second.tryGrow(40));
    assert.equal(budget.used, 100);
    first.release();
    first.release();
    assert.equal(budget.used, 40);
    assert.ok(second.tryGrow(60));
  });

  test('lets one that is larger than all of it have it alone', () => {
    const budget = new Budget(() => 100, 1_000, runtime);
    const large = budget.share();
    assert.ok(large.tryGrow(1_000));
    assert.ok(!budget.share().tryGrow(1));
    large.release();
    assert.ok(budget.share().tryGrow(1));
  });

  test('serves those who wait when there is room, the smaller first', async () => {
    const budget = new Budget(() => 100, 60_000, runtime);
    const holder = budget.share();
    holder.tryGrow(100);
    const served: number[] = [];
    const waiting = [80, 90, 20].map(async (bytes) => {
      const share = budget.share();
      assert.equal(await share.grow(bytes), true);
      served.push(bytes);
      setTimeout(() => share.release(), 5);
    });
    holder.release();
    await Promise.all(waiting);
    assert.deepEqual(served, [20, 80, 90]);
  });

  test('refuses who has waited too long', async () => {
    const budget = new Budget(() => 100, 20, runtime, lookMs);
    budget.share().tryGrow(100);
    assert.equal(await budget.share().grow(1), false);
    assert.equal(budget.used, 100);
  });

  test('ends the share without progress for longest where others wait, and no other', async () => {
    const budget = new Budget(() => 100, 60_000, runtime, lookMs);
    const ended: string[] = [];
    const share = (name: string, bytes: number): ReturnType<typeof budget.share> => {
      const made = budget.share(() => ended.push(name));
      assert.ok(made.tryGrow(bytes));
      return made;
    };
    share('first', 40);
    const moving = share('moving', 30);
    const working = share('working', 30);
    working.settle();
    const progress = setInterval(() => moving.moved(), lookMs);
    assert.equal(await budget.share().grow(40), true);
    clearInterval(progress);
    assert.deepEqual(ended, ['first']);
    assert.equal(budget.used, 100);
  });
});
