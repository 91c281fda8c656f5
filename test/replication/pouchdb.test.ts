/** PouchDB replicates in both directions, with everything that it asks of a server. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { seed } from '../model/random.js';
import { leavesOf, live, openPouch, settled } from './pouch.js';
import { fillAtRandom, replicate } from './scene.js';

const client = await startServer({ dataDir: temporaryFolder() });
const remote = (db: string) => openPouch(client.urlWithCredentials + db);

describe(`PouchDB (seed ${seed})`, () => {
  test('takes everything over, conflicts, deletions and attachments included', async () => {
    const db = await newDb(client);
    await fillAtRandom(client, db, 300, seed);
    const pouch = openPouch();
    const first = await pouch.replicate.from(remote(db), { batch_size: 50 });
    assert.deepEqual([first.ok, first.doc_write_failures], [true, 0]);
    assert.deepEqual(await leavesOf(pouch), await leavesOf(remote(db)));
    const again = await pouch.replicate.from(remote(db));
    assert.equal(again.docs_read, 0);
    await pouch.destroy();
  });

  test('hands everything on, and goes on where it stopped', async () => {
    const db = await newDb(client);
    const other = await newDb(client);
    await fillAtRandom(client, db, 200, seed + 1);
    const pouch = openPouch();
    await pouch.replicate.from(remote(db));
    await pouch.replicate.to(remote(other), { batch_size: 30 });
    assert.deepEqual(await leavesOf(remote(other)), await leavesOf(remote(db)));
    await pouch.put({ _id: 'later' });
    assert.equal((await pouch.replicate.to(remote(other))).docs_written, 1);
    await pouch.destroy();
  });

  test('leaves checkpoints that the server keeps, and passes over', async () => {
    const db = await newDb(client);
    const target = await newDb(client);
    await client.put(`${db}/a`, {});
    const pouch = openPouch();
    await pouch.replicate.from(remote(db));
    const { rows } = (await client.get(`${db}/_local_docs`)).body as { rows: { id: string }[] };
    assert.equal(rows.length, 1);
    const { history } = (await client.get(`${db}/${encodeURIComponent(rows[0]!.id)}`)).body as {
      history: unknown[];
    };
    assert.equal(history.length, 1);
    await replicate(client, { source: db.slice(1), target: target.slice(1) });
    assert.equal((await pouch.replicate.from(remote(db))).docs_read, 0);
    await pouch.destroy();
  });

  test('lives with the server: what one side writes, the other has soon', async () => {
    const db = await newDb(client);
    const pouch = openPouch();
    const going = [live(pouch, remote(db)), live(remote(db), pouch)];
    await pouch.put({ _id: 'here', v: 1 });
    await client.put(`${db}/there`, { v: 1 });
    const same = () =>
      settled(
        () => leavesOf(pouch),
        () => leavesOf(remote(db)),
        10_000,
      );
    assert.deepEqual(await same(), []);
    assert.deepEqual([...(await leavesOf(pouch)).keys()], ['here', 'there']);
    const { _rev } = await pouch.get('there');
    await pouch.put({ _id: 'there', _rev, v: 2 });
    await client.put(`${db}/there`, { _rev, v: 'conflict' });
    assert.deepEqual(await same(), []);
    for (const each of going) each.cancel();
    await pouch.destroy();
  });

  test('takes over what a filter of the server, a list or a selector lets through', async () => {
    const db = await newDb(client);
    await client.post(`${db}/_bulk_docs`, { docs: [1, 2, 3, 4].map((v) => ({ _id: `d${v}`, v })) });
    await client.put(`${db}/_design/f`, {
      filters: { min: 'function(doc, req) { return doc.v >= +req.query.min; }' },
    });
    const taken = async (options: Record<string, unknown>): Promise<string[]> => {
      const pouch = openPouch();
      await pouch.replicate.from(remote(db), options);
      const ids = [...(await leavesOf(pouch)).keys()];
      await pouch.destroy();
      return ids;
    };
    assert.deepEqual(await taken({ filter: 'f/min', query_params: { min: 3 } }), ['d3', 'd4']);
    assert.deepEqual(await taken({ doc_ids: ['d1', 'd4'] }), ['d1', 'd4']);
    assert.deepEqual(await taken({ selector: { v: { $lt: 3 } } }), ['d1', 'd2']);
  });

  test('keeps attachments byte for byte on both ways', async () => {
    const db = await newDb(client);
    const [pouch, other] = [openPouch(), openPouch()];
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => (n * 7) % 256));
    await pouch.put({
      _id: 'with',
      _attachments: {
        'b in.bin': { content_type: 'application/octet-stream', data: bytes.toString('base64') },
        't.txt': { content_type: 'text/plain', data: Buffer.from('hello'.repeat(1000)).toString('base64') },
      },
    });
    await pouch.replicate.to(remote(db));
    await other.replicate.from(remote(db));
    assert.deepEqual(Buffer.from(await other.getAttachment('with', 'b in.bin')), bytes);
    assert.equal(Buffer.from(await other.getAttachment('with', 't.txt')).toString(), 'hello'.repeat(1000));
    for (const each of [pouch, other]) await each.destroy();
  });
});
