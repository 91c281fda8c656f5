import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, revOf } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

describe('POST /{db}/_bulk_docs', () => {
  test('of nothing there are copies enough', async () => {
    const db = await newDb(client);
    assert.equal((await client.post(`${db}/_bulk_docs?w=9`, { docs: [] })).status, 201);
    assert.equal((await client.post(`${db}/_bulk_docs`, { docs: [], w: 9 })).status, 201);
    assert.equal((await client.post(`${db}/_bulk_docs?w=9`, { docs: [{}] })).status, 202);
  });

  test('creates, updates and deletes, with one row for each document in their order', async () => {
    const db = await newDb(client);
    const { rev: a } = (await client.put(`${db}/a`, { n: 1 })).body;
    const { rev: b } = (await client.put(`${db}/b`, { n: 1 })).body;
    const docs = [{ n: 2 }, { _id: 'a', _rev: a, n: 2 }, { _id: 'b', _rev: b, _deleted: true }, { _id: 'c' }];
    const answer = await client.post(`${db}/_bulk_docs`, { docs });
    assertOk(answer, 201);
    assert.deepEqual(
      answer.body.map(({ ok }: { ok: boolean }) => ok),
      [true, true, true, true],
    );
    assert.match(answer.body[0].id, /^[0-9a-f]{32}$/);
    assert.deepEqual(
      answer.body.slice(1).map(({ id }: { id: string }) => id),
      ['a', 'b', 'c'],
    );
    [1, 2, 2, 1].forEach((n, i) => assert.match(answer.body[i].rev, revOf(n)));
    assert.equal((await client.get(`${db}/a`)).body.n, 2);
    assertRefused(await client.get(`${db}/b`), 404);
  });

  test('one failure does not touch the other documents', async () => {
    const db = await newDb(client);
    await client.put(`${db}/taken`, {});
    const answer = await client.post(`${db}/_bulk_docs`, {
      docs: [{ _id: 'x' }, { _id: 'taken' }, { _id: 'y' }],
    });
    assertOk(answer, 201);
    assert.deepEqual(answer.body[1], {
      id: 'taken',
      error: 'conflict',
      reason: 'Document update conflict.',
    });
    assert.deepEqual([answer.body[0].ok, answer.body[2].ok], [true, true]);
    assert.equal((await client.get(db)).body.doc_count, 3);
  });

  test('of two documents with one id in a request the first is saved', async () => {
    const db = await newDb(client);
    const docs = [
      { _id: 'twin', n: 1 },
      { _id: 'twin', n: 2 },
    ];
    const { body } = await client.post(`${db}/_bulk_docs`, { docs });
    assert.equal(body[0].ok, true);
    assert.equal(body[1].error, 'conflict');
    assert.equal((await client.get(`${db}/twin`)).body.n, 1);
  });

  test('new_edits=false stores revisions as they are, conflicts and all', async () => {
    const db = await newDb(client);
    const docs = [
      { _id: 'd', _rev: '1-abc', n: 1 },
      { _id: 'd', _rev: '1-xyz', n: 2 },
    ];
    const answer = await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    assertOk(answer, 201);
    assert.deepEqual(answer.body, []);
    const { body } = await client.get(`${db}/d?conflicts=true`);
    assert.deepEqual([body._rev, body.n, body._conflicts], ['1-xyz', 2, ['1-abc']]);
  });

  test('with new_edits=false nothing is saved if a revision is not named, whatever a validation function says', async () => {
    const db = await newDb(client);
    const validate = 'function (doc) { if (doc.bad) throw { forbidden: "bad" }; }';
    assertOk(await client.put(`${db}/_design/v`, { validate_doc_update: validate }), 201);
    const docs = [
      { _id: 'a', _rev: '1-a' },
      { _id: 'b', bad: true },
    ];
    assertRefused(await client.post(`${db}/_bulk_docs`, { new_edits: false, docs }), 400, 'bad_request');
    assertRefused(await client.get(`${db}/a`), 404, 'not_found');
  });

  test('new_edits=true is the default', async () => {
    const db = await newDb(client);
    const { body } = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'd' }], new_edits: true });
    assert.match(body[0].rev, revOf(1));
  });

  test('X-Svc-Full-Commit is taken, true or false', async () => {
    const db = await newDb(client);
    for (const value of ['true', 'false']) {
      const headers = { 'x-svc-full-commit': value };
      const answer = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: value }] }, headers);
      assert.ok([201, 202].includes(answer.status), answer.text);
      assert.equal(answer.body[0].ok, true);
      assertOk(await client.get(`${db}/${value}`), 200);
    }
  });

  test('a body without docs, and another type, are refused', async () => {
    const db = await newDb(client);
    for (const body of [{}, { docs: 'x' }, { docs: null }, [], { docs: [1] }, { docs: [], new_edits: 'x' }]) {
      assertRefused(await client.post(`${db}/_bulk_docs`, body), 400);
    }
    const answer = await client.post(`${db}/_bulk_docs`, { docs: [] }, { 'content-type': 'text/plain' });
    assertRefused(answer, 415);
    assert.deepEqual((await client.post(`${db}/_bulk_docs`, { docs: [] })).body, []);
  });
});

describe('POST /{db}/_bulk_get', () => {
  test('a list is no document', async () => {
    const db = await newDb(client);
    const { body } = await client.post(`${db}/_bulk_get`, { docs: [['a'], { x: 1 }] });
    assert.deepEqual(
      body.results.map((each: { docs: { error: { reason: string } }[] }) => each.docs[0]!.error.reason),
      ['document must be a JSON object', 'document id missed'],
    );
  });

  test('gives each document asked for, in their order', async () => {
    const db = await newDb(client);
    const { rev: a } = (await client.put(`${db}/a`, { n: 1 })).body;
    const { rev: b } = (await client.put(`${db}/b`, { n: 2 })).body;
    const answer = await client.post(`${db}/_bulk_get`, { docs: [{ id: 'b' }, { id: 'a', rev: a }] });
    assertOk(answer, 200);
    assert.deepEqual(answer.body, {
      results: [
        { id: 'b', docs: [{ ok: { _id: 'b', _rev: b, n: 2 } }] },
        { id: 'a', docs: [{ ok: { _id: 'a', _rev: a, n: 1 } }] },
      ],
    });
  });

  test('revs=true adds _revisions', async () => {
    const db = await newDb(client);
    const { rev } = (await client.put(`${db}/a`, {})).body;
    const { body } = await client.post(`${db}/_bulk_get?revs=true`, { docs: [{ id: 'a' }] });
    const { _revisions: revisions } = body.results[0].docs[0].ok;
    assert.deepEqual(revisions, { start: 1, ids: [rev.slice(2)] });
    const off = await client.post(`${db}/_bulk_get?revs=false`, { docs: [{ id: 'a' }] });
    assert.equal(off.body.results[0].docs[0].ok._revisions, undefined);
  });

  test('what is missing has an error in its place', async () => {
    const db = await newDb(client);
    await client.put(`${db}/a`, {});
    const docs = [{ id: 'nothing' }, { id: 'a', rev: '7-abc' }];
    const { status, body } = await client.post(`${db}/_bulk_get`, { docs });
    assert.equal(status, 200);
    for (const { docs: found } of body.results) assert.equal(found[0].error.error, 'not_found');
  });

  test('atts_since is taken', async () => {
    const db = await newDb(client);
    const { rev } = (await client.put(`${db}/a`, {})).body;
    const { body } = await client.post(`${db}/_bulk_get`, { docs: [{ id: 'a', rev, atts_since: [rev] }] });
    assert.equal(body.results[0].docs[0].ok._rev, rev);
  });

  test('a body without docs is refused with 400', async () => {
    const db = await newDb(client);
    for (const body of [{}, { docs: 'x' }, []])
      assertRefused(await client.post(`${db}/_bulk_get`, body), 400);
  });
});

/** Two trees: 1-a with the leaves 3-c, 3-d and 4-z (deleted), and 1-e with the leaf 2-f. */
async function newForest(): Promise<string> {
  const db = await newDb(client);
  const paths = [
    [3, 'c', 'b', 'a'],
    [3, 'd', 'b', 'a'],
    [4, 'z', 'y', 'x', 'a'],
    [2, 'f', 'e'],
  ] as const;
  const docs = paths.map(([start, ...ids]) => ({
    _id: 'u',
    _revisions: { start, ids },
    ...(start === 4 ? { _deleted: true } : {}),
  }));
  assertOk(await client.post(`${db}/_bulk_docs`, { new_edits: false, docs }), 201);
  return db;
}

test('_bulk_get lists leaves branch by branch, the tree with the latest root first', async () => {
  const db = await newForest();
  const revs = async (entry: object, query = ''): Promise<string[]> => {
    const { results } = (await client.post(`${db}/_bulk_get${query}`, { docs: [entry] })).body;
    return results[0].docs.map(({ ok }: { ok: { _rev: string } }) => ok._rev);
  };
  assert.deepEqual(await revs({ id: 'u' }), ['2-f', '3-c', '3-d', '4-z']);
  assert.deepEqual(await revs({ id: 'u', rev: '1-a' }, '?latest=true'), ['3-c', '3-d', '4-z']);
  assert.deepEqual(await revs({ id: 'u', rev: '2-b' }, '?latest=true'), ['3-c', '3-d']);
});

test('_revs_diff and _missing_revs list what is missing in the order of revisions', async () => {
  const db = await newForest();
  const asked = ['1-zz', '3-aa', '2-bb', '2-x'];
  const { u, unknown } = (await client.post(`${db}/_revs_diff`, { u: asked, unknown: ['2-b', '1-a'] })).body;
  assert.deepEqual(u.missing, ['1-zz', '2-bb', '3-aa']);
  assert.deepEqual(unknown.missing, ['2-b', '1-a']);
  const { missing_revs: missing } = (await client.post(`${db}/_missing_revs`, { u: asked })).body;
  assert.deepEqual(missing.u, ['1-zz', '2-bb', '3-aa']);
});

test('documents of one _bulk_docs stand in the changes in the order of their ids', async () => {
  const db = await newDb(client, '?q=1');
  const ids = Array.from({ length: 5_000 }, (_, n) => `d${(n * 7919) % 5_000}`);
  const docs = [...ids.map((_id) => ({ _id })), { _id: 'd1', again: true }];
  const answer = await client.post(`${db}/_bulk_docs`, { docs });
  assert.deepEqual(
    answer.body.map(({ id }: { id: string }) => id),
    docs.map(({ _id }) => _id),
  );
  assert.equal(answer.body.at(-1).error, 'conflict');
  const { results } = (await client.get(`${db}/_changes`)).body;
  assert.deepEqual(
    results.map(({ id }: { id: string }) => id),
    ids.toSorted(),
  );
});
