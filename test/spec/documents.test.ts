import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, revOf } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);

describe('Document states', () => {
  test('absent, POST: live with a first revision', async () => {
    const answer = await client.post(db, { _id: 'by-post', n: 1 });
    assertOk(answer, 201);
    assert.equal(answer.body.ok, true);
    assert.equal(answer.body.id, 'by-post');
    assert.match(answer.body.rev, revOf(1));
    assert.deepEqual((await client.get(`${db}/by-post`)).body, {
      _id: 'by-post',
      _rev: answer.body.rev,
      n: 1,
    });
  });

  test('absent, PUT: live with a first revision', async () => {
    const answer = await client.put(`${db}/by-put`, { n: 1 });
    assertOk(answer, 201);
    assert.match(answer.body.rev, revOf(1));
    assert.equal((await client.get(`${db}/by-put`)).body.n, 1);
  });

  test('absent, bulk create: live with a first revision', async () => {
    const answer = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'by-bulk', n: 1 }, { n: 2 }] });
    assertOk(answer, 201);
    for (const row of answer.body) assert.match(row.rev, revOf(1));
    assert.equal((await client.get(`${db}/${answer.body[1].id}`)).body.n, 2);
  });

  test('live, update with the current rev: the next revision, by PUT, by query, by If-Match, in bulk', async () => {
    let rev = (await client.put(`${db}/u`, {})).body.rev as string;
    const next = async (n: number, answer: Promise<{ body: { rev: string } }>): Promise<void> => {
      rev = (await answer).body.rev;
      assert.match(rev, revOf(n));
    };
    await next(2, client.put(`${db}/u`, { _rev: rev }));
    await next(3, client.put(`${db}/u?rev=${rev}`, { a: 1 }));
    await next(4, client.put(`${db}/u`, { a: 2 }, { 'if-match': `"${rev}"` }));
    await next(5, client.post(db, { _id: 'u', _rev: rev, a: 3 }));
    const bulk = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'u', _rev: rev, a: 4 }] });
    assert.match(bulk.body[0].rev, revOf(6));
    assert.equal((await client.get(`${db}/u`)).body.a, 4);
  });

  test('live, update with a missing or outdated rev: unchanged, conflict', async () => {
    const { rev } = (await client.put(`${db}/c`, { n: 1 })).body;
    const { rev: second } = (await client.put(`${db}/c`, { _rev: rev, n: 2 })).body;
    assertRefused(await client.put(`${db}/c`, { n: 3 }), 409, 'conflict');
    assertRefused(await client.put(`${db}/c`, { _rev: rev, n: 3 }), 409, 'conflict');
    assertRefused(await client.post(db, { _id: 'c', n: 3 }), 409, 'conflict');
    assertRefused(await client.put(`${db}/c`, { _rev: '2-abc', n: 3 }), 409, 'conflict');
    assertRefused(await client.delete(`${db}/c?rev=${rev}`), 409, 'conflict');
    assertRefused(await client.delete(`${db}/c`), 409, 'conflict');
    const bulk = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'c', _rev: rev, n: 3 }] });
    assert.equal(bulk.body[0].error, 'conflict');
    assert.deepEqual((await client.get(`${db}/c`)).body, { _id: 'c', _rev: second, n: 2 });
  });

  test('live, DELETE with the current rev: deleted, with a new revision that is kept', async () => {
    const { rev } = (await client.put(`${db}/d`, { n: 1 })).body;
    const answer = await client.delete(`${db}/d?rev=${rev}`);
    assertOk(answer, 200);
    assert.match(answer.body.rev, revOf(2));
    const gone = await client.get(`${db}/d`);
    assertRefused(gone, 404, 'not_found');
    assert.equal(gone.body.reason, 'deleted');
    const tombstone = await client.get(`${db}/d?rev=${answer.body.rev}`);
    assert.deepEqual(tombstone.body, { _id: 'd', _rev: answer.body.rev, _deleted: true });
  });

  test('live, bulk delete with the current rev: deleted', async () => {
    const { rev } = (await client.put(`${db}/bd`, { n: 1 })).body;
    const answer = await client.post(`${db}/_bulk_docs`, {
      docs: [{ _id: 'bd', _rev: rev, _deleted: true }],
    });
    assert.match(answer.body[0].rev, revOf(2));
    assertRefused(await client.get(`${db}/bd`), 404, 'not_found');
  });

  test('deleted, PUT without a rev: live again, on top of its history', async () => {
    const { rev } = (await client.put(`${db}/again`, {})).body;
    await client.delete(`${db}/again?rev=${rev}`);
    const answer = await client.put(`${db}/again`, { n: 2 });
    assertOk(answer, 201);
    assert.match(answer.body.rev, revOf(3));
  });
});

describe('Document fields', () => {
  test('any string is an id', async () => {
    const ids = ['a b', 'é', '日本', '😀', 'a/b', 'a+b', '%', 'a?b#c', '"', '\\', 'ZZ', '.', '..', 'x\ty'];
    for (const id of ids) {
      const path = `${db}/${encodeURIComponent(id)}`;
      assertOk(await client.put(path, { of: id }), 201);
      const read = await client.get(path);
      assert.deepEqual([read.body._id, read.body.of], [id, id]);
    }
  });

  test('ids that begin with an underscore are reserved', async () => {
    assertRefused(await client.put(`${db}/_mine`, {}), 400);
    assertRefused(await client.post(db, { _id: '_mine' }), 400);
  });

  test('the rev is the quoted ETag of reads and writes', async () => {
    const made = await client.put(`${db}/tag`, {});
    assert.equal(made.headers.etag, `"${made.body.rev}"`);
    const read = await client.get(`${db}/tag`);
    assert.equal(read.headers.etag, `"${made.body.rev}"`);
    const head = await client.head(`${db}/tag`);
    assert.equal(head.headers.etag, `"${made.body.rev}"`);
    const same = await client.get(`${db}/tag`, { 'if-none-match': `"${made.body.rev}"` });
    assertOk(same, 304);
  });

  test('the same edit has the same revision wherever it is made, and another one another', async () => {
    const other = await newDb(client);
    const here = await client.put(`${db}/same`, { a: [1, 'x'] });
    const there = await client.put(`${other}/same`, { a: [1, 'x'] });
    const different = await client.put(`${other}/different`, { a: [1, 'y'] });
    assert.equal(here.body.rev, there.body.rev);
    assert.notEqual(here.body.rev, different.body.rev);
    assert.equal(here.body.rev.split('-')[1].length, createHash('md5').digest('hex').length);
  });

  test('revs=true adds _revisions, newest first', async () => {
    const first = (await client.put(`${db}/history`, {})).body.rev as string;
    const second = (await client.put(`${db}/history`, { _rev: first })).body.rev as string;
    const { body } = await client.get(`${db}/history?revs=true`);
    assert.deepEqual(body._revisions, {
      start: 2,
      ids: [second, first].map((rev) => rev.split('-')[1]),
    });
  });

  test('members that begin with an underscore and mean nothing are refused', async () => {
    assertRefused(await client.put(`${db}/special`, { _special: 1 }), 400, 'doc_validation');
  });

  test('everything else is free-form and comes back as it was', async () => {
    const free = { text: 'é😀\u0000', list: [1, 2.5, null, true], inner: { a: { b: [] } }, '': '' };
    await client.put(`${db}/free`, free);
    const { _id, _rev, ...rest } = (await client.get(`${db}/free`)).body;
    assert.deepEqual(rest, free);
    assert.ok(_id && _rev);
  });

  test('a copy has the same members under another id', async () => {
    await client.put(`${db}/source`, { n: 1 });
    assertOk(await client.copy(`${db}/source`, 'target'), 201);
    assert.equal((await client.get(`${db}/target`)).body.n, 1);
    assertRefused(await client.copy(`${db}/source`, 'target'), 409, 'conflict');
  });
});

test('a stub that stands for nothing is refused with 412, after conflicts', async () => {
  const db = await newDb(client);
  const { rev: first } = (await client.put(`${db}/a`, {})).body;
  const { rev } = (await client.put(`${db}/a`, { _rev: first })).body;
  const _attachments = { file: { stub: true } };
  for (const _rev of [undefined, '1-aa', '7-aa', first])
    assertRefused(await client.put(`${db}/a`, { _rev, _attachments }), 409, 'conflict');
  assertRefused(await client.put(`${db}/a`, { _rev: rev, _attachments }), 412, 'missing_stub');
  for (const _rev of [undefined, '1-aa'])
    assertRefused(await client.put(`${db}/new`, { _rev, _attachments }), 412, 'missing_stub');
  const docs = [{ _id: 'a', _attachments }, { _id: 'b' }];
  const answer = await client.post(`${db}/_bulk_docs`, { docs });
  assert.deepEqual(
    answer.body.map(({ error }: { error?: string }) => error),
    ['conflict', undefined],
  );
});

test('the destination of a copy takes nothing but a revision', async () => {
  const db = await newDb(client);
  await client.put(`${db}/a`, {});
  for (const destination of ['b?x=1', 'b?', 'b?rev=zz', 'b?rev=1-aa&x=1']) {
    assertRefused(await client.copy(`${db}/a`, destination), 400, 'bad_request');
  }
});

test('a copy is refused for its revision, its destination and its source, in this order', async () => {
  const home = await newDb(client);
  const reasonOf = async (path: string, headers: Record<string, string>): Promise<string> =>
    (await client.send('COPY', `${home}/${path}`, { headers })).body.reason as string;
  assert.match(await reasonOf('none?rev=x', {}), /rev/);
  assert.match(await reasonOf('none?rev=1-a', {}), /Destination/);
  assertRefused(await client.copy(`${home}/none?rev=1-a`, '_x'), 400, 'illegal_docid');
  assertRefused(await client.copy(`${home}/none?rev=1-a`, 'x'), 404, 'not_found');
});
