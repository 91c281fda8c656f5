import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer({ dataDir: temporaryFolder() });

const hello = { content_type: 'application/octet-stream', data: 'aGVsbG8=' };

describe('deleted=true', () => {
  test('opens the tombstone of a deleted document, with what was asked for beside it', async () => {
    const db = await newDb(client);
    const { body: first } = await client.put(`${db}/d`, { n: 1 });
    const tombstone = { _rev: first.rev, _deleted: true, kept: 'yes', _attachments: { f: hello } };
    const { body: second } = await client.put(`${db}/d`, tombstone);
    const found = await client.get(`${db}/d?deleted=true`);
    assertOk(found, 200);
    const { _attachments, ...rest } = found.body;
    assert.deepEqual(rest, { _id: 'd', _rev: second.rev, _deleted: true, kept: 'yes' });
    assert.equal(_attachments.f.stub, true);
    assert.equal(found.headers.etag, `"${second.rev}"`);
    const more = await client.get(`${db}/d?deleted=true&revs=true&revs_info=true&attachments=true`);
    assert.equal(more.body._deleted, true);
    assert.equal(more.body._revisions.start, 2);
    assert.equal(more.body._revs_info.length, 2);
    assert.equal(more.body._attachments.f.data, hello.data);
  });

  test('changes nothing for live and missing documents, and nothing unless it is true', async () => {
    const db = await newDb(client);
    const { body: live } = await client.put(`${db}/live`, { n: 1 });
    assert.deepEqual((await client.get(`${db}/live?deleted=true`)).body, {
      _id: 'live',
      _rev: live.rev,
      n: 1,
    });
    assertRefused(await client.get(`${db}/none?deleted=true`), 404, 'not_found');
    await client.delete(`${db}/live?rev=${live.rev}`);
    for (const query of ['', '?deleted=false', '?revs=true'])
      assertRefused(await client.get(`${db}/live${query}`), 404, 'not_found');
  });
});

describe('latest=true', () => {
  test('open_revs gives each leaf once, however many of its ancestors are named', async () => {
    const db = await newDb(client);
    const history = (...ids: string[]) => ({ _id: 'd', _revisions: { start: ids.length, ids } });
    const docs = [history('c', 'b', 'a'), history('x', 'b', 'a'), history('z', 'a')];
    await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    const leaves = async (revs: string[]): Promise<string[]> => {
      const query = `open_revs=${encodeURIComponent(JSON.stringify(revs))}&latest=true`;
      const { body } = await client.get(`${db}/d?${query}`, { accept: 'application/json' });
      return body
        .map((row: { ok?: { _rev: string }; missing?: string }) => row.ok?._rev ?? row.missing)
        .sort();
    };
    assert.deepEqual(await leaves(['2-b', '3-c']), ['3-c', '3-x']);
    assert.deepEqual(await leaves(['3-c', '2-b', '3-c']), ['3-c', '3-x']);
    assert.deepEqual(await leaves(['1-a', '2-b', '2-z', '9-no']), ['2-z', '3-c', '3-x', '9-no']);
  });
});

describe('_all_docs with keys and attachments=true', () => {
  const setUp = async (): Promise<string> => {
    const db = await newDb(client);
    await client.put(`${db}/a`, { _attachments: { f: hello } });
    await client.put(`${db}/b`, { n: 1 });
    const { body } = await client.put(`${db}/gone`, { _attachments: { f: hello } });
    await client.delete(`${db}/gone?rev=${body.rev}`);
    return db;
  };
  const keys = ['b', 'a', 'gone', 'none', 7, 'a'];
  const check = (rows: Awaited<ReturnType<typeof client.get>>['body']): void => {
    assert.deepEqual(
      rows.map(({ key }: { key: unknown }) => key),
      keys,
    );
    assert.equal(rows[1].doc._attachments.f.data, hello.data);
    assert.equal(rows[5].doc._attachments.f.data, hello.data);
    assert.equal(rows[0].doc.n, 1);
    assert.deepEqual([rows[2].value.deleted, rows[2].doc], [true, null]);
    assert.deepEqual([rows[3].error, rows[4].error], ['not_found', 'not_found']);
  };

  test('by POST, by GET and among queries the documents carry the bytes', async () => {
    const db = await setUp();
    const query = 'include_docs=true&attachments=true';
    check((await client.post(`${db}/_all_docs?${query}`, { keys })).body.rows);
    check(
      (await client.get(`${db}/_all_docs?${query}&keys=${encodeURIComponent(JSON.stringify(keys))}`)).body
        .rows,
    );
    const queries = [{ keys }, { include_docs: true, attachments: true, keys }, { limit: 1 }];
    const { body } = await client.post(`${db}/_all_docs/queries?${query}`, { queries });
    check(body.results[0].rows);
    check(body.results[1].rows);
    assert.equal(body.results[2].rows[0].doc._attachments.f.data, hello.data);
  });

  test('without include_docs there are no bytes; conflicts and encodings are shown when asked for', async () => {
    const db = await setUp();
    const plain = await client.post(`${db}/_all_docs?attachments=true`, { keys });
    assert.equal(plain.body.rows[1].doc, undefined);
    const docs = [{ _id: 'a', _rev: '1-zzz', _attachments: { f: hello } }];
    await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    const options = 'include_docs=true&attachments=true&conflicts=true';
    for (const answer of [
      await client.post(`${db}/_all_docs?${options}`, { keys: ['a'] }),
      await client.get(`${db}/_all_docs?${options}&key="a"`),
    ]) {
      const { doc } = answer.body.rows[0];
      assert.equal(doc._conflicts.length, 1, answer.text);
      assert.equal(doc._attachments.f.data, hello.data);
    }
    assertOk(
      await client.post(`${db}/_local_docs?include_docs=true&attachments=true`, { keys: ['_local/x'] }),
      200,
    );
  });
});

describe('_bulk_get', () => {
  test('atts_since gives the bytes of attachments that are newer, also without attachments=true', async () => {
    const db = await newDb(client);
    const { body: first } = await client.put(`${db}/d`, { _attachments: { old: hello } });
    const both = { old: { stub: true }, young: { ...hello, data: 'Z2c=' } };
    const { body: second } = await client.put(`${db}/d`, { _rev: first.rev, _attachments: both });
    const read = async (since: unknown[], query = ''): Promise<[unknown, unknown]> => {
      const answer = await client.post(`${db}/_bulk_get${query}`, { docs: [{ id: 'd', atts_since: since }] });
      const { old, young } = answer.body.results[0].docs[0].ok._attachments;
      return [old.data ?? old.stub, young.data ?? young.stub];
    };
    for (const query of ['', '?attachments=true']) {
      assert.deepEqual(await read([first.rev], query), [true, 'Z2c=']);
      assert.deepEqual(await read([second.rev], query), [true, true]);
      assert.deepEqual(await read(['1-x'], query), [hello.data, 'Z2c=']);
    }
    assert.deepEqual(await read([]), [true, true]);
    assert.deepEqual(await read([], '?attachments=true'), [hello.data, 'Z2c=']);
  });

  test('parameters of a single document are refused in the query string', async () => {
    const db = await newDb(client);
    for (const name of ['rev', 'open_revs', 'atts_since', 'w', 'new_edits']) {
      const answer = await client.post(`${db}/_bulk_get?${name}=[]`, { docs: [{ id: 'd' }] });
      assertRefused(answer, 400, 'bad_request');
      assert.equal(answer.body.reason, `"${name}" query parameter is not acceptable`);
    }
  });
});

test('_revs_info tells of every ancestor that is left, also beyond the limit that cuts _revisions', async () => {
  const db = await newDb(client);
  await client.put(`${db}/_revs_limit`, 2);
  const leaf = (start: number, ...ids: string[]): object => ({ _id: 'd', _revisions: { start, ids } });
  const docs = [leaf(4, 'd', 'c', 'b', 'a'), leaf(4, 'x', 'c', 'b', 'a'), leaf(3, 'q', 'b', 'a')];
  await client.post(`${db}/_bulk_docs`, { new_edits: false, docs });
  const { body } = await client.get(`${db}/d?revs_info=true&revs=true`);
  assert.deepEqual(body._revisions, { start: 4, ids: ['x', 'c'] });
  assert.deepEqual(
    body._revs_info.map(({ rev }: { rev: string }) => rev),
    ['4-x', '3-c', '2-b'],
  );
});

test('map functions see the leaves that lost, live and deleted', async () => {
  const db = await newDb(client);
  const map = 'function (doc) { emit(doc._conflicts || null, doc._deleted_conflicts || null) }';
  await client.put(`${db}/_design/d`, { views: { v: { map } } });
  const docs = ['2-c', '2-b'].map((_rev) => ({ _id: 'a', _rev }));
  await client.post(`${db}/_bulk_docs`, {
    new_edits: false,
    docs: [...docs, { _id: 'a', _rev: '2-d', _deleted: true }, { _id: 'b', _rev: '1-b' }],
  });
  const { body } = await client.get(`${db}/_design/d/_view/v`);
  assert.deepEqual(
    body.rows.map(({ key, value }: { key: unknown; value: unknown }) => [key, value]),
    [
      [null, null],
      [['2-b'], ['2-d']],
    ],
  );
});
