import assert from 'node:assert/strict';
import test from 'node:test';
import { compareJson } from '../../src/json/collation.js';
import { fieldReader } from '../../src/selectors/field-path.js';
import { RandomSelector } from '../selectors/random-selector.js';
import { newDb, startServer } from '../support/server.js';
import { seed } from '../model/random.js';

/**
 * The same documents in two databases, one with indexes and one without: whatever index is taken, and in whatever pages the
 * answer is asked for, the same documents are found.
 */
const client = await startServer();
const plain = await newDb(client);
const indexed = await newDb(client);
const docs = randomDocs();
const indexes = [['a'], ['b'], ['c'], ['a', 'b'], ['b', 'a.b'], ['c', '_id'], ['a', 'b', 'c']];
for (const db of [plain, indexed])
  assert.equal((await client.post(`${db}/_bulk_docs`, { docs })).status, 201, `TUFFET_SEED=${seed}`);
for (const fields of indexes)
  assert.equal(
    (await client.post(`${indexed}/_index`, { index: { fields }, ddoc: fields.join('-') })).status,
    200,
  );

function randomDocs(): Record<string, unknown>[] {
  const random = new RandomSelector(seed);
  return Array.from({ length: 120 }, (_, i) => {
    const doc = random.object(3);
    for (const name of ['a', 'b', 'c']) if (i % 3 > 0) doc[name] ??= random.value(1);
    return { ...doc, _id: `${'zZaA{_'[i % 6] === '_' ? 'y' : 'zZaA{_'[i % 6]}${i}` };
  });
}

interface Found {
  docs: Record<string, unknown>[];
  bookmark: string;
}

async function find(db: string, body: object): Promise<Found> {
  const answer = await client.post(`${db}/_find`, body);
  assert.equal(answer.status, 200, `TUFFET_SEED=${seed} ${JSON.stringify(body)}: ${answer.text}`);
  return answer.body as Found;
}

const idsOf = ({ docs: found }: Found): string[] => found.map((doc) => String(doc['_id']));

async function inPages(db: string, body: object, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let bookmark: string | null = null; ;) {
    const page: Found = await find(db, { ...body, limit, bookmark });
    if (page.docs.length === 0) return ids;
    ids.push(...idsOf(page));
    bookmark = page.bookmark;
  }
}

test('an index finds what a scan finds, at once and in pages', async () => {
  let used = 0;
  for (let round = 0; round < 250; round++) {
    const random = new RandomSelector(seed + 1 + round);
    const selector = random.selector(2);
    const body = { selector, limit: 1000, fields: ['_id', 'b'] };
    const expected = idsOf(await find(plain, body)).sort();
    const label = `TUFFET_SEED=${seed} ${JSON.stringify(selector)}`;
    const whole = await client.post(`${indexed}/_find`, body);
    if (!String(whole.body.warning).includes('No matching index')) used++;
    assert.deepEqual(idsOf(whole.body as Found).sort(), expected, label);
    const counted = await client.post(`${indexed}/_find`, { selector, limit: 1, count: true });
    assert.equal(counted.body.count, expected.length, label);
    if (round % 5 > 0) continue;
    const paged = await inPages(indexed, { selector }, 1 + (round % 7));
    assert.deepEqual(paged.sort(), expected, label);
  }
  assert.ok(used > 30, `an index was used for only ${used} selectors`);
});

test('a covering index shows what the documents show', async () => {
  for (let round = 0; round < 60; round++) {
    const random = new RandomSelector(seed + 5000 + round);
    const selector = { a: { $gt: random.value(1) }, b: { $ne: random.value(1) } };
    const body = { selector, fields: ['_id', 'b', 'a'], limit: 1000 };
    const byId = ({ docs: found }: Found): unknown[] =>
      found.toSorted((x, y) => (String(x['_id']) < String(y['_id']) ? -1 : 1));
    const covered = await client.post(`${indexed}/_explain`, { ...body, use_index: 'a-b' });
    assert.equal(covered.body.covering, true, covered.text);
    assert.deepEqual(
      byId(await find(indexed, { ...body, use_index: 'a-b' })),
      byId(await find(plain, body)),
      `TUFFET_SEED=${seed} ${JSON.stringify(selector)}`,
    );
  }
});

test('a sorted query has its order in both directions and in pages', async () => {
  for (const sort of [['a'], ['b', 'a.b'], ['c', '_id'], ['a', 'b', 'c']]) {
    const selector = { $and: sort.map((field) => ({ [field]: { $gt: null } })) };
    const expected = idsOf(await find(plain, { selector, limit: 1000 })).sort();
    const up = idsOf(await find(indexed, { selector, sort, limit: 1000 }));
    const down = sort.map((field) => ({ [field]: 'desc' }));
    assert.deepEqual(up.toSorted(), expected, `TUFFET_SEED=${seed} ${sort.join()}`);
    assert.deepEqual(idsOf(await find(indexed, { selector, sort: down, limit: 1000 })), up.toReversed());
    assert.deepEqual(await inPages(indexed, { selector, sort: down }, 4), up.toReversed());
    const keys = up.map((id) =>
      sort.map((field) => fieldReader(field)(docs.find((doc) => doc['_id'] === id))),
    );
    for (let at = 1; at < keys.length; at++)
      assert.ok(compareJson(keys[at - 1], keys[at]) <= 0, `TUFFET_SEED=${seed} ${sort.join()} at ${at}`);
  }
});

test('pages go on where they ended, whatever is written in between', async () => {
  const db = await newDb(client);
  const name = (n: number): string => `d${String(n).padStart(3, '0')}`;
  const numbered = Array.from({ length: 40 }, (_, n) => ({ _id: name(n), n }));
  await client.post(`${db}/_bulk_docs`, { docs: numbered });
  await client.post(`${db}/_index`, { index: { fields: ['n'] }, ddoc: 'n' });
  for (const body of [{ selector: {} }, { selector: { n: { $gte: 0 } }, sort: ['n'] }]) {
    const first = await find(db, { ...body, limit: 10 });
    assert.deepEqual(idsOf(first).at(-1), name(9));
    // The last one shown is gone, and others come before it.
    const { _rev: rev } = (await client.get(`${db}/${name(9)}`)).body as { _rev: string };
    await client.delete(`${db}/${name(9)}?rev=${rev}`);
    await client.post(`${db}/_bulk_docs`, {
      docs: [
        { _id: `a${rev}`, n: -1 },
        { _id: `d000${rev}`, n: 0.5 },
      ],
    });
    const second = await find(db, { ...body, limit: 5, bookmark: first.bookmark });
    assert.deepEqual(idsOf(second), [10, 11, 12, 13, 14].map(name));
    await client.put(`${db}/${name(9)}`, { n: 9 });
    for (const id of [`a${rev}`, `d000${rev}`]) {
      const doc = (await client.get(`${db}/${id}`)).body as { _rev: string };
      await client.delete(`${db}/${id}?rev=${doc._rev}`);
    }
  }
});

test('a bookmark keeps to its index, also when a better one is there', async () => {
  const db = await newDb(client);
  await client.post(`${db}/_bulk_docs`, {
    docs: Array.from({ length: 9 }, (_, n) => ({ _id: `d${n}`, n: 9 - n })),
  });
  const selector = { n: { $gt: 0 } };
  const first = await find(db, { selector, limit: 4 });
  await client.post(`${db}/_index`, { index: { fields: ['n'] }, ddoc: 'n' });
  const second = await find(db, { selector, limit: 4, bookmark: first.bookmark });
  assert.deepEqual([...idsOf(first), ...idsOf(second)], ['d0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7']);
  const byIndex = await find(db, { selector, limit: 4 });
  assert.deepEqual(idsOf(byIndex), ['d8', 'd7', 'd6', 'd5']);
  const { _rev: rev } = (await client.get(`${db}/_design/n`)).body as { _rev: string };
  await client.delete(`${db}/_design/n?rev=${rev}`);
  const gone = await client.post(`${db}/_find`, { selector, bookmark: byIndex.bookmark });
  assert.equal(gone.status, 400);
  assert.equal(gone.body.error, 'invalid_bookmark');
});
