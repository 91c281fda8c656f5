import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { assertOk, assertRefused } from '../support/expect.js';
import { adminLogin } from '../support/h2-client.js';
import { newDb, startServer } from '../support/server.js';

/** Documents that are so large that they are held against selectors beside the serving thread. */
const client = await startServer();
const padding = 'x'.repeat(600_000);
const docs: { _id: string; [member: string]: unknown }[] = [
  { _id: 'a', n: 1, list: [1, 2, { s: 'é' }], 'b.c': { d: [{ e: 5 }] } },
  { _id: 'b', n: 2, list: [], text: 'hello', __proto__: null, 'b.c': { d: [] } },
  { _id: 'c', list: ['x', 'y'], nested: { k1: 1, k2: 2 }, constructor: 1 },
];
const small = await newDb(client);
const large = await newDb(client);
for (const doc of docs) {
  assertOk(await client.put(`${small}/${doc._id}`, { ...doc, padding: 'x' }), 201);
  assertOk(await client.put(`${large}/${doc._id}`, { ...doc, padding }), 201);
}

const selectors: object[] = [
  {},
  { n: { $gte: 1 } },
  { n: { $exists: false } },
  { _id: { $gt: 'a' }, n: 2 },
  { _rev: { $regex: '^1-' }, n: 1 },
  { $not: { n: 1 } },
  { $nor: [{ n: 1 }, { n: 2 }] },
  { list: { $elemMatch: { s: 'é' } } },
  { list: { $all: [1, 2] } },
  { list: { $size: 0 } },
  { nested: { $keyMapMatch: { $eq: 'k2' } } },
  { 'b\\.c.d.0.e': 5 },
  { constructor: 1 },
  { padding: { $beginsWith: 'x' } },
];
const shapes: object[] = [{}, { fields: ['_id', 'n', 'list.2', 'b\\.c.d', 'zz'] }, { conflicts: true }];

/** With what differs by the padding taken out. */
const shown = (found: unknown[]): string =>
  JSON.stringify(found)
    .replaceAll(/"padding":"x*"/g, '"padding"')
    .replaceAll(/\d-[0-9a-f]{32}/g, '"rev"');

test('large documents are found as small ones are', async () => {
  for (const selector of selectors) {
    for (const shape of shapes) {
      const [few, many] = await Promise.all(
        [small, large].map(async (db) => {
          const answer = await client.post(`${db}/_find`, { selector, ...shape, execution_stats: true });
          assertOk(answer, 200);
          const { docs: found, bookmark, execution_stats: stats } = answer.body;
          return `${shown(found)} ${bookmark} ${stats.total_docs_examined} ${stats.total_keys_examined}`;
        }),
      );
      assert.equal(many, few, JSON.stringify({ selector, ...shape }));
    }
  }
});

test('they are counted and reckoned with as small ones are', async () => {
  const values = { docs: { $count: true }, most: { $max: 'n' } };
  const queries: object[] = [
    { count: true, limit: 1 },
    { aggregate: { group_by: ['n', 'list.0'], values } },
    { aggregate: { values: { docs: { $count: true } } } },
  ];
  for (const more of queries) {
    const answers = await Promise.all(
      [small, large].map((db) => client.post(`${db}/_find`, { selector: { _id: { $gt: null } }, ...more })),
    );
    const [few, many] = answers.map(({ body, status, text }) => {
      assert.equal(status, 200, text);
      return JSON.stringify([body.groups, body.count, body.docs && shown(body.docs)]);
    });
    assert.equal(many, few);
  }
});

test('a feed selects them as small ones', async () => {
  for (const selector of selectors.slice(1)) {
    const ids = await Promise.all(
      [small, large].map(async (db) => {
        const answer = await client.post(`${db}/_changes?filter=_selector`, { selector });
        assertOk(answer, 200);
        return (answer.body.results as { id: string }[]).map(({ id }) => id).sort();
      }),
    );
    assert.deepEqual(ids[1], ids[0], JSON.stringify(selector));
  }
});

/** A selector that takes minutes for one document. */
const endless = {
  $or: Array.from({ length: 1_000 }, (_, n) => ({ list: { $elemMatch: { $eq: n + 2 } } })),
};

const setTimeoutMs = (value: string): Promise<unknown> =>
  client.put('/_node/_local/_config/tuffet/query_timeout_ms', value);

async function longList(): Promise<string> {
  const db = await newDb(client);
  const list = Array.from({ length: 500_000 }, () => 1);
  assertOk(await client.put(`${db}/list`, { list }), 201);
  return db;
}

test('clients that go away free the threads that were busy for them', async () => {
  const db = await longList();
  const away = Array.from({ length: 5 }, () => {
    const abandoned = new AbortController();
    const asked = fetch(`${client.url}${db}/_find`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: adminLogin },
      body: JSON.stringify({ selector: endless }),
      signal: abandoned.signal,
    });
    return { abandoned, asked: asked.then(() => 'answered').catch(() => 'broken off') };
  });
  await setTimeout(500);
  for (const { abandoned } of away) abandoned.abort();
  assert.deepEqual(new Set(await Promise.all(away.map(({ asked }) => asked))), new Set(['broken off']));
  // Its verdict fails in this process when the thread is ended: an error that nobody catches would fail this test.
  const begun = performance.now();
  assertOk(
    await client.post(`${db}/_find`, { selector: { list: { $size: 500_000 } }, fields: ['_id'] }),
    200,
  );
  assert.ok(performance.now() - begun < 20_000);
  await setTimeout(500);
});

test('who waits for a thread for too long is told so', async () => {
  const db = await longList();
  await setTimeoutMs('1500');
  try {
    const asked = Array.from({ length: 6 }, () => client.post(`${db}/_find`, { selector: endless }));
    const begun = performance.now();
    for (const answer of await Promise.all(asked)) assertRefused(answer, 500, 'timeout');
    assert.ok(performance.now() - begun < 8_000);
  } finally {
    await setTimeoutMs('infinity');
  }
});

test('a selector that takes long for one document keeps nothing waiting, and ends at its deadline', async () => {
  const db = await longList();
  const selector = endless;
  await setTimeoutMs('2500');
  try {
    const ways: [string, object][] = [
      ['_find', { selector }],
      ['_changes?filter=_selector', { selector }],
    ];
    for (const [path, body] of ways) {
      let isDone = false;
      const asked = client.post(`${db}/${path}`, body).finally(() => (isDone = true));
      let longest = 0;
      while (!isDone) {
        const begun = performance.now();
        assertOk(await client.get('/_up'), 200);
        longest = Math.max(longest, performance.now() - begun);
      }
      assert.ok(longest < 1_500, `${path}: another request waited for ${longest} ms`);
      if (path === '_find') assertRefused(await asked, 500, 'timeout');
    }
  } finally {
    await setTimeoutMs('infinity');
  }
  assertOk(
    await client.post(`${db}/_find`, { selector: { list: { $size: 500_000 } }, fields: ['_id'] }),
    200,
  );
});
