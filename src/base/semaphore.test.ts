import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore } from './semaphore.js';

/** Jobs that end when they are told to. */
function jobs(semaphore: Semaphore, count: number) {
  const started: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const results = Array.from({ length: count }, (_, job) =>
    semaphore.run(
      () =>
        new Promise<number>((resolve, reject) => {
          started.push(job);
          ends[job] = (error) => (error === undefined ? resolve(job) : reject(error));
        }),
    ),
  );
  return { started, results, end: (job: number, error?: Error) => ends[job]!(error) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('as many jobs as allowed run at once, the others in the order in which they came', async () => {
  const { started, results, end } = jobs(new Semaphore(2), 4);
  await turn();
  assert.deepEqual(started, [0, 1]);
  end(1);
  await turn();
  assert.deepEqual(started, [0, 1, 2]);
  end(0);
  end(2);
  await turn();
  end(3);
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3]);
});

test('a job that fails passes on its slot', async () => {
  const semaphore = new Semaphore(1);
  const { results, end } = jobs(semaphore, 2);
  const first = assert.rejects(results[0]!, /broken/);
  await turn();
  end(0, new Error('broken'));
  await first;
  await turn();
  end(1);
  assert.equal(await results[1], 1);
  assert.equal(await semaphore.run(() => Promise.resolve('free again')), 'free again');
});

test('a job that throws before it returns a promise passes on its slot', async () => {
  const semaphore = new Semaphore(1);
  const broken = (): Promise<never> => {
    throw new Error('broken');
  };
  await assert.rejects(semaphore.run(broken), /broken/);
  assert.equal(await semaphore.run(() => Promise.resolve(1)), 1);
});

test('whenIdle waits for all slots to be released', async () => {
  const semaphore = new Semaphore(2);
  await semaphore.whenIdle();
  const releases = [await semaphore.acquire(), await semaphore.acquire()];
  const third = semaphore.acquire();
  let isIdle = false;
  const idle = semaphore.whenIdle().then(() => (isIdle = true));
  for (const release of releases) release();
  await turn();
  assert.equal(isIdle, false);
  (await third)();
  await idle;
});
