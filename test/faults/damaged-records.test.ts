import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { temporaryFolder } from '../support/server.js';
import { withServer } from './data-folder.js';

/** Documents whose records do not decode, or whose bodies are lost: an error that names them, and no wrong answer. */
test('a document that is damaged costs an error that names it; the others are answered', async () => {
  const dataDir = temporaryFolder();
  await withServer(dataDir, async (client) => {
    assertOk(await client.put('/d'), 201);
    for (const id of ['sound', 'cut', 'noise'])
      assertOk(await client.put(`/d/${id}`, { text: 'x'.repeat(100) }), 201);
    for (const id of ['lost', 'short'])
      assertOk(await client.put(`/d/${id}`, { text: 'x'.repeat(5_000) }), 201);
  });
  await damage(dataDir);
  await withServer(dataDir, async (client) => {
    for (const id of ['cut', 'noise', 'lost', 'short']) {
      for (const query of ['', '?revs=true', '?open_revs=all']) {
        const answer = await client.get(`/d/${id}${query}`, { accept: 'application/json' });
        // What needs no body, or only the sound part of a record, may be answered.
        if (query === '' || answer.status !== 200) assertRefused(answer, 500);
      }
      const answer = await client.get(`/d/${id}`);
      assert.equal(answer.body.error, 'damaged_record', answer.text);
      assert.match(answer.body.reason as string, new RegExp(`/d/${id} `));
    }
    assertOk(await client.get('/d/sound'), 200);
    assertOk(await client.put('/d/new', {}), 201);
    assertOk(await client.get('/'), 200);
  });
});

/** Changes what the store of the documents has of them. */
async function damage(dataDir: string): Promise<void> {
  const store = new LmdbStore(path.join(dataDir, 'documents/0.1'));
  const keys = instances(store).map((instance) => new DatabaseKeys(instance));
  const of = (id: string): string => {
    const key = keys.map((each) => each.live(asBytes(id))).find((each) => store.get(each) !== undefined);
    assert.ok(key !== undefined, id);
    return key;
  };
  const bodies = keys.flatMap((each) => {
    const start = each.body(0, 0).slice(0, -8);
    return [...store.entries({ start, end: asBytes(`${start}\xff`) })].filter(
      ({ value }) => value.length > 5_000,
    );
  });
  assert.equal(bodies.length, 2);
  const [lost, short] = bodies[0]!.key < bodies[1]!.key ? bodies : bodies.toReversed();
  await store.write([
    { key: asBytes(of('cut')), value: store.get(asBytes(of('cut')))!.slice(0, -20) },
    { key: asBytes(of('noise')), value: asBytes('\xff'.repeat(60)) },
    { key: lost!.key, value: undefined },
    { key: short!.key, value: short!.value.slice(0, -100) },
  ]).flushed;
  await store.close();
}

const instances = (store: LmdbStore): number[] => [
  ...new Set(
    [...store.keys({ start: asBytes('\0\0\0\0\x01'), end: asBytes('\xff') })].map((key) =>
      Buffer.from(key.slice(0, 5), 'latin1').readUIntBE(0, 5),
    ),
  ),
];
