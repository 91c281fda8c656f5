import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorization, ServerProcess } from './server-process.js';

const rowsEach = 100;
const queries = 1_000;
const sizes = { small: 100, large: 10_000 };
/** The logarithm of a million is one and a half times that of ten thousand; the rest is for the machine. */
const growthMax = 2.5;

const headers = { authorization, 'content-type': 'application/json' };

async function call(server: ServerProcess, method: string, path: string, body?: object): Promise<unknown> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(server.url + path, { method, headers, ...init });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return await answer.json();
}

/** A view with a hundred rows of each document. */
async function fill(server: ServerProcess, db: string, docs: number): Promise<void> {
  await server.createDatabase(db);
  const map = `function (doc) { for (var i = 0; i < ${rowsEach}; i++) emit(doc.n * ${rowsEach} + i, i); }`;
  await call(server, 'PUT', `/${db}/_design/d`, { views: { v: { map, reduce: '_sum' } } });
  for (let from = 0; from < docs; from += 1_000) {
    const batch = Array.from({ length: Math.min(1_000, docs) }, (_, i) => ({ n: from + i }));
    await call(server, 'POST', `/${db}/_bulk_docs`, { docs: batch });
  }
  const { total_rows } = (await call(server, 'GET', `/${db}/_design/d/_view/v?reduce=false&limit=1`)) as {
    total_rows: number;
  };
  assert.equal(total_rows, docs * rowsEach);
}

/** Milliseconds of a reduce over a random range. */
async function reduceMs(server: ServerProcess, db: string, rows: number): Promise<number> {
  const [low, high] = [Math.random(), Math.random()].sort((a, b) => a - b).map((at) => Math.floor(at * rows));
  const path = `/${db}/_design/d/_view/v?startkey=${low}&endkey=${high}`;
  const started = performance.now();
  const { rows: found } = (await call(server, 'GET', path)) as { rows: { value: number }[] };
  const ms = performance.now() - started;
  let sum = 0;
  for (let key = low!; key <= high!; key++) sum += key % rowsEach;
  assert.equal(found[0]?.value, sum);
  return ms;
}

test('a reduce over a range of a million rows takes hardly longer than one over ten thousand', async (t) => {
  const server = await ServerProcess.start(t);
  for (const [db, docs] of Object.entries(sizes)) await fill(server, db, docs);
  const times = { small: [] as number[], large: [] as number[] };
  for (let i = 0; i < queries; i++) {
    for (const db of ['small', 'large'] as const)
      times[db].push(await reduceMs(server, db, sizes[db] * rowsEach));
  }
  const median = (list: number[]): number => list.sort((a, b) => a - b)[list.length >> 1]!;
  const [small, large] = [median(times.small), median(times.large)];
  console.log(`10,000 rows ${small.toFixed(2)} ms, 1,000,000 rows ${large.toFixed(2)} ms`);
  assert.ok(large < growthMax * small, `${large} ms against ${small} ms`);
});
