import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const ids = ['10', 'B', 'a', 'z', 'é'];
await client.post(`${db}/_bulk_docs`, { docs: ids.map((_id) => ({ _id, v: 1 })) });
await client.post(`${db}/_index`, { index: { fields: ['v'] } });

async function found(selector: object): Promise<string[]> {
  const { status, body, text } = await client.post(`${db}/_find`, { selector });
  assert.equal(status, 200, text);
  return (body.docs as { _id: string }[]).map(({ _id }) => _id).sort();
}

test('ids stand behind every value that is no text, however they are read', async () => {
  for (const value of [null, false, true, 0, 1e9, [], ['zz'], {}, { z: 'zz' }]) {
    for (const rest of [{}, { v: 1 }]) {
      for (const operator of ['$gt', '$gte', '$ne'])
        assert.deepEqual(await found({ ...rest, _id: { [operator]: value } }), ids, JSON.stringify(value));
      for (const operator of ['$lt', '$lte', '$eq'])
        assert.deepEqual(await found({ ...rest, _id: { [operator]: value } }), [], JSON.stringify(value));
    }
  }
});

test('a range of ids may begin at any value that stands before texts in the collation', async () => {
  for (const value of [null, 5])
    assert.deepEqual(await found({ _id: { $gt: value, $lt: 'b' } }), ['10', 'B', 'a']);
  for (const value of [[], {}, { z: 1 }]) {
    assert.deepEqual(await found({ _id: { $gt: value, $lt: 'b' } }), []);
    assert.deepEqual(await found({ _id: { $gte: value, $eq: 'a' } }), []);
  }
});

test('a range of ids that is empty gives no place to go on from', async () => {
  const bodyOf = async (_id: object): Promise<object> =>
    (await client.post(`${db}/_find`, { selector: { _id } })).body as object;
  assert.deepEqual(await bodyOf({ $gte: 1, $lte: true }), { docs: [] });
  assert.deepEqual(await bodyOf({ $gt: 'b', $lt: 'a' }), { docs: [] });
  assert.ok('bookmark' in (await bodyOf({ $gte: true, $lte: 1 })));
});
