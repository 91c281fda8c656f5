import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SystemRuntime } from './runtime.js';

const runtime = new SystemRuntime();

const work = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end;);
};

describe('nextTurn', () => {
  it('resolves in a later turn of the event loop', async () => {
    let hasTurned = false;
    setImmediate(() => (hasTurned = true));
    await runtime.nextTurn();
    assert.ok(hasTurned);
  });

  it('shares the time of a turn among all jobs, in the order in which they came', async () => {
    let turn = 0;
    let isDone = false;
    const count = (): void => {
      turn++;
      if (!isDone) setImmediate(count);
    };
    count();
    const turns: number[] = [];
    const order: number[] = [];
    const job = async (number: number): Promise<void> => {
      for (let slices = 0; slices < 3; slices++) {
        await runtime.nextTurn();
        turns.push(turn);
        order.push(number);
        work(9);
      }
    };
    const jobs = Array.from({ length: 10 }, (_, number) => number);
    await Promise.all(jobs.map(job));
    isDone = true;
    assert.equal(new Set(turns).size, 30);
    assert.deepEqual(order, [...jobs, ...jobs, ...jobs]);
  });

  it('runs short jobs in one turn', async () => {
    let turn = 0;
    let isDone = false;
    const count = (): void => {
      turn++;
      if (!isDone) setImmediate(count);
    };
    count();
    await Promise.all(Array.from({ length: 1_000 }, () => runtime.nextTurn()));
    isDone = true;
    assert.ok(turn < 200, `${turn} turns`);
  });
});

describe('isTurnFull', () => {
  it('is so once the requests of a turn have taken their time, until the next turn', async () => {
    await runtime.nextTurn();
    assert.equal(runtime.isTurnFull, false);
    assert.equal(runtime.isTurnFull, false);
    work(20);
    assert.equal(runtime.isTurnFull, true);
    await runtime.nextTurn();
    assert.equal(runtime.isTurnFull, false);
  });
});
