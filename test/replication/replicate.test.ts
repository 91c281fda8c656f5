import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { seed } from '../model/random.js';
import { addressOf, assertSame, contentsOf, fillAtRandom, newest, replicate } from './scene.js';

const here = await startServer({ dataDir: temporaryFolder() });
const there = await startServer({ dataDir: temporaryFolder() });
const name = (db: string): string => db.slice(1);

describe(`everything arrives (seed ${seed})`, () => {
  const ways = {
    'from a database of this server to another': () => ({ source: here, target: here, urls: [false, false] }),
    'from this server to another': () => ({ source: here, target: there, urls: [false, true] }),
    'from another server to this one': () => ({ source: there, target: here, urls: [true, false] }),
    'from one server to another': () => ({ source: there, target: there, urls: [true, true] }),
  };
  for (const [title, way] of Object.entries(ways)) {
    test(title, async () => {
      const { source, target, urls } = way();
      const from = await newDb(source, '?q=3');
      const to = await newDb(target, '?q=2');
      await fillAtRandom(source, from, 300, seed);
      const request = {
        source: urls[0] ? addressOf(source, from) : name(from),
        target: urls[1] ? addressOf(target, to) : name(to),
        worker_batch_size: 40,
      };
      const answer = await replicate(here, request);
      const { docs_read, docs_written, doc_write_failures, missing_found } = newest(answer);
      assert.equal(docs_written, docs_read);
      assert.equal(docs_written, missing_found);
      assert.equal(doc_write_failures, 0);
      await assertSame([source, from], [target, to]);
      const again = await replicate(here, request);
      assert.equal(again['no_changes'], true);
      assert.equal(again['session_id'], answer['session_id']);
    });
  }
});

describe('a replication', () => {
  test('brings what is new, and no more', async () => {
    const [from, to] = [await newDb(here), await newDb(there)];
    const request = { source: name(from), target: addressOf(there, to) };
    await fillAtRandom(here, from, 50, 1);
    await replicate(here, request);
    const { rev } = (await here.put(`${from}/new`, { v: 1 })).body as { rev: string };
    await here.put(`${from}/new`, { v: 2, _rev: rev });
    const answer = await replicate(here, request);
    const { missing_checked, missing_found, docs_read, docs_written } = newest(answer);
    assert.deepEqual([missing_checked, missing_found, docs_read, docs_written], [1, 1, 1, 1]);
    assert.equal((answer['history'] as unknown[]).length, 2);
    await assertSame([here, from], [there, to]);
  });

  test('in both directions makes two databases the same, conflicts included', async () => {
    const [a, b] = [await newDb(here), await newDb(there)];
    await here.put(`${a}/x`, { v: 'left' });
    await there.put(`${b}/x`, { v: 'right' });
    await fillAtRandom(here, a, 40, 2);
    await fillAtRandom(there, b, 40, 3);
    await replicate(here, { source: name(a), target: addressOf(there, b) });
    await replicate(here, { source: addressOf(there, b), target: name(a) });
    await assertSame([here, a], [there, b]);
    const winner = (await here.get(`${a}/x?conflicts=true`)).body as { _rev: string; _conflicts: string[] };
    assert.equal(winner._conflicts.length, 1);
    assert.equal((await there.get(`${b}/x`)).body._rev, winner._rev);
  });

  test('brings deletions, also of documents that were never there', async () => {
    const [from, to] = [await newDb(here), await newDb(here)];
    const { rev } = (await here.put(`${from}/x`, {})).body as { rev: string };
    await here.delete(`${from}/x?rev=${rev}`);
    await replicate(here, { source: name(from), target: name(to) });
    assert.equal((await here.get(`${to}/x`)).body.reason, 'deleted');
    assert.equal((await here.get(to)).body.doc_del_count, 1);
  });

  test('leaves local documents where they are', async () => {
    const [from, to] = [await newDb(here), await newDb(here)];
    await here.put(`${from}/_local/mine`, { v: 1 });
    await here.put(`${from}/x`, {});
    await replicate(here, { source: name(from), target: name(to) });
    assert.equal((await here.get(`${to}/_local/mine`)).status, 404);
  });

  test('notes on both sides where it is, in the same document', async () => {
    const [from, to] = [await newDb(here), await newDb(there)];
    await here.put(`${from}/x`, {});
    const answer = await replicate(here, { source: name(from), target: addressOf(there, to) });
    const { rows } = (await here.get(`${from}/_local_docs`)).body as { rows: { id: string }[] };
    assert.match(rows[0]!.id, /^_local\/[0-9a-f]{32}$/);
    const [left, right] = [await here.get(`${from}/${rows[0]!.id}`), await there.get(`${to}/${rows[0]!.id}`)];
    for (const { body } of [left, right]) {
      assert.equal(body.session_id, answer['session_id']);
      assert.equal(body.replication_id_version, 4);
      assert.match(body.source_last_seq, /^1-/);
      assert.equal(body.history[0].recorded_seq, body.source_last_seq);
    }
    assert.equal(answer['source_last_seq'], 1);
    assert.equal(newest(answer)['end_last_seq'], 1);
  });

  test('without checkpoints leaves no note, and goes on from the one that is there', async () => {
    const [from, to] = [await newDb(here), await newDb(here)];
    await here.put(`${from}/x`, {});
    const request = { source: name(from), target: name(to), use_checkpoints: false };
    assert.deepEqual(await replicate(here, request), { ok: true, use_checkpoints: false });
    assert.deepEqual((await here.get(`${from}/_local_docs`)).body.rows, []);
    assert.equal((await here.get(to)).body.doc_count, 1);
    const noted = await replicate(here, { ...request, use_checkpoints: true });
    assert.deepEqual(await replicate(here, request), { ...noted, no_changes: true });
    await here.put(`${from}/y`, {});
    assert.deepEqual(await replicate(here, request), { ok: true, use_checkpoints: false });
    assert.equal((await here.get(to)).body.doc_count, 2);
  });

  test('begins anew when one side is another database by now', async () => {
    const [from, to] = [await newDb(here), await newDb(here)];
    const request = { source: name(from), target: name(to) };
    for (let n = 0; n < 5; n++) await here.put(`${from}/old${n}`, {});
    await replicate(here, request);
    await here.delete(from);
    await here.put(from);
    await here.put(`${from}/other`, {});
    await replicate(here, request);
    assert.equal((await here.get(`${to}/other`)).status, 200);
    await here.delete(to);
    await here.put(to);
    await replicate(here, request);
    assert.deepEqual([...(await contentsOf(here, to)).keys()], ['other']);
  });

  test('from a place of the source brings what follows', async () => {
    const [from, to] = [await newDb(here, '?q=1'), await newDb(here)];
    await here.put(`${from}/before`, {});
    const { last_seq } = (await here.get(`${from}/_changes`)).body as { last_seq: string };
    await here.put(`${from}/after`, {});
    await replicate(here, { source: name(from), target: name(to), since_seq: last_seq });
    assert.deepEqual([...(await contentsOf(here, to)).keys()], ['after']);
    // A checkpoint of the same replication does not prevail.
    const none = await replicate(here, { source: name(from), target: name(to) });
    assert.equal(none['no_changes'], true);
    const again = await replicate(here, { source: name(from), target: name(to), since_seq: 0 });
    assert.deepEqual([...(await contentsOf(here, to)).keys()].sort(), ['after', 'before']);
    assert.equal(newest(again)['docs_written'], 1);
  });

  test('of winners alone leaves conflicts behind', async () => {
    const [from, to] = [await newDb(here), await newDb(here)];
    const docs = ['a', 'b'].map((letter) => ({ _id: 'x', _rev: `1-${letter.repeat(32)}`, v: letter }));
    await here.post(`${from}/_bulk_docs`, { docs, new_edits: false });
    await replicate(here, { source: name(from), target: name(to), winning_revs_only: true });
    const { body } = await here.get(`${to}/x?conflicts=true`);
    assert.deepEqual([body.v, body._conflicts], ['b', undefined]);
  });

  test('of named documents brings those, also by the thousand', async () => {
    const [from, to] = [await newDb(there), await newDb(here)];
    const ids = Array.from({ length: 1_500 }, (_, n) => `d${n}`);
    await there.post(`${from}/_bulk_docs`, { docs: ids.map((_id) => ({ _id })) });
    const wanted = ids.filter((_, n) => n % 2 === 0);
    const answer = await replicate(here, {
      source: addressOf(there, from),
      target: name(to),
      doc_ids: wanted,
    });
    assert.equal(answer['docs_written'], 750);
    assert.deepEqual([...(await contentsOf(here, to)).keys()].sort(), [...wanted].sort());
  });

  test('makes its target, with as many shards as it is told', async () => {
    const from = await newDb(here);
    await here.put(`${from}/x`, {});
    for (const [target, at] of [
      ['made/local', here],
      [`${there.urlWithCredentials}/made%2Fthere`, there],
    ] as const) {
      await replicate(here, {
        source: name(from),
        target,
        create_target: true,
        create_target_params: { q: 3 },
      });
      const path = at === here ? '/made%2Flocal' : '/made%2Fthere';
      const { body } = await at.get(path);
      assert.deepEqual([body.cluster.q, body.doc_count], [3, 1]);
    }
  });

  test('counts what the target refuses, and brings the rest', async () => {
    const [from, to] = [await newDb(here), await newDb(there)];
    const validate = 'function (doc, old, user) { if (doc.bad) throw({ forbidden: "not here" }) }';
    await there.put(`${to}/_design/d`, { validate_doc_update: validate });
    await here.post(`${from}/_bulk_docs`, { docs: [{ _id: 'a' }, { _id: 'b', bad: true }, { _id: 'c' }] });
    const answer = await replicate(here, { source: name(from), target: addressOf(there, to) });
    const { docs_read, docs_written, doc_write_failures } = newest(answer);
    assert.deepEqual([docs_read, docs_written, doc_write_failures], [3, 2, 1]);
    assert.deepEqual([...(await contentsOf(there, to)).keys()], ['_design/d', 'a', 'c']);
  });

  test('fails as a whole where the target can have no document of such an id', async () => {
    const [from, to] = [await newDb(here), await newDb(there, '?partitioned=true')];
    await here.put(`${from}/nowhere`, {});
    const { status } = await here.post('/_replicate', { source: name(from), target: addressOf(there, to) });
    assert.equal(status, 500);
  });
});
