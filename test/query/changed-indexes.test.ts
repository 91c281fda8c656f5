import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

const queries = 40;
const conditions = 3_000;

/** An index of that field, by the same name. */
const indexOf = (field: string): Record<string, unknown> => ({
  language: 'query',
  views: {
    n: { map: { fields: { [field]: 'asc' } }, reduce: '_count', options: { def: { fields: [field] } } },
  },
});

test('a query finds all documents while its index becomes one of another field', async () => {
  const db = await newDb(client);
  const docs = Array.from({ length: 90 }, (_, n) => ({ _id: `d${n}`, a: n % 3, b: 1_000 + n }));
  await client.post(`${db}/_bulk_docs`, { docs });
  // So many conditions that reading them and planning with them take a turn of the event loop each.
  const others = Array.from({ length: conditions }, (_, n) => ({ [`c${n}`]: n }));
  const selector = { a: 1, $or: [{ b: { $gt: 0 } }, ...others] };
  let isOver = false;
  const change = async (): Promise<void> => {
    let rev: string | undefined;
    for (let n = 0; !isOver; n++) {
      const { status, body } = await client.put(`${db}/_design/i`, { ...indexOf('ab'[n % 2]!), _rev: rev });
      assert.equal(status, 201);
      rev = body.rev;
    }
  };
  const ask = async (): Promise<void> => {
    for (let n = 0; n < queries / 2; n++) {
      const { status, body } = await client.post(`${db}/_find`, { selector, limit: 100 });
      assert.deepEqual([status, body.docs?.length], [200, 30]);
    }
  };
  const changing = change();
  try {
    await Promise.all([ask(), ask()]);
  } finally {
    isOver = true;
    await changing;
  }
});
