import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seed } from '../model/random.js';
import type { HttpClient } from '../support/http-client.js';
import { reshardUnderLoad } from './load.js';
import { divideAll, ranges, splitAll } from './reshard.js';

const quietMs = 4_000;

/** What one client measures: how many requests it makes in a second, and how long the slowest hundredth takes. */
interface Measured {
  perSecond: number;
  p99: number;
}

/** Requests one after the other, until told to stop. */
async function measure(request: (n: number) => Promise<number>, isOver: () => boolean): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  for (let n = 0; !isOver(); n++) {
    const before = performance.now();
    assert.ok((await request(n)) < 300);
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: times.length / seconds, p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}

/** Measures reads and writes beside the other clients, for as long as the work takes. */
async function during<T>(client: HttpClient, db: string, name: string, work: () => Promise<T>) {
  let isOver = false;
  const get = measure(
    async () => (await client.get(`${db}/kept-0`)).status,
    () => isOver,
  );
  const put = measure(
    async (n) => (await client.put(`${db}/probe-${name}-${n}`, { probe: true })).status,
    () => isOver,
  );
  await work();
  isOver = true;
  return { get: await get, put: await put };
}

const figures = (name: string, { get, put }: { get: Measured; put: Measured }): string =>
  [
    `${name}:`,
    ...[get, put].map(({ perSecond, p99 }) => `${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(0)} ms`),
  ].join(' ');

test(`splits and divisions under the load of eight writers lose nothing (seed ${seed})`, async (t) => {
  await reshardUnderLoad({
    seed,
    q: 4,
    writers: 8,
    reshard: async (client, db) => {
      const pause = () => new Promise((resolve) => setTimeout(resolve, quietMs));
      const before = await during(client, db, 'before', pause);
      t.diagnostic(figures('before (GET, PUT)', before));
      t.diagnostic(figures('split', await during(client, db, 'split', () => splitAll(client, db))));
      const divide = async (): Promise<void> => {
        await divideAll(client, db);
        await divideAll(client, db);
      };
      t.diagnostic(figures('division', await during(client, db, 'division', divide)));
      assert.equal((await ranges(client, db)).length, 8);
    },
  });
});
