import assert from 'node:assert/strict';
import test from 'node:test';
import { assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

/** A view whose reduce fails for good at the key `bad`, and that shows the name of any other key. */
async function newView(padding: number): Promise<string> {
  const db = await newDb(client);
  const views = {
    v: {
      map: `function (doc) { emit(doc._id, doc._id === 'bad' ? 'x' : '${'-'.repeat(padding)}'); }`,
      reduce:
        "function (keys, values) { if (values.indexOf('x') >= 0) throw ['fatal', 'a', 'b']; return values.length; }",
    },
  };
  await client.put(`${db}/_design/d`, { views });
  const docs = Array.from({ length: 100 }, (_, n) => ({ _id: `a${n}` }));
  await client.post(`${db}/_bulk_docs`, { docs: [...docs, { _id: 'bad' }, { _id: 'z' }] });
  return `${db}/_design/d/_view/v`;
}

test('a reduce that fails in a later query is answered as an error while nothing is sent', async () => {
  const view = await newView(1);
  const queries = [{ key: 'a1' }, { key: 'bad' }, { key: 'z' }];
  const answer = await client.post(`${view}/queries`, { queries });
  assertRefused(answer, 500, 'a');
  assert.equal(answer.body.reason, 'b');
});

test('and as the end of the answer where the beginning has been sent', async () => {
  const view = await newView(2_000);
  const queries = [{ reduce: false, endkey: 'b' }, { key: 'bad' }, { key: 'z' }];
  const { status, text } = await client.post(`${view}/queries`, { queries });
  assert.equal(status, 200);
  assert.ok(text.length > 200_000);
  assert.throws(() => JSON.parse(text) as unknown, 'nobody takes it for the whole answer');
  assert.ok(text.endsWith('\n{"error":"a","reason":"b"}\n'), text.slice(-200));
});
