import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ config: { couchdb: { os_process_timeout: '1000' } } });

/** A database whose documents must not be `bad`. */
async function guardedDb(extra = ''): Promise<string> {
  const db = await newDb(client);
  const validate = `function(doc, old, user, security){ if (doc.bad) throw({forbidden: 'bad: ' + doc.bad}); ${extra} }`;
  assertOk(await client.put(`${db}/_design/v`, { validate_doc_update: validate }), 201);
  return db;
}

describe('validation functions judge every way of writing', () => {
  test('single documents, by PUT and by POST', async () => {
    const db = await guardedDb();
    assertRefused(await client.put(`${db}/a`, { bad: 1 }), 403, 'forbidden');
    assertRefused(await client.post(db, { bad: 2 }), 403, 'forbidden');
    assertOk(await client.put(`${db}/a`, {}), 201);
  });

  test('bulk requests, document by document', async () => {
    const db = await guardedDb();
    const docs = Array.from({ length: 450 }, (_, n) => ({
      _id: `d${n}`,
      ...(n % 3 === 0 ? { bad: n + 1 } : {}),
    }));
    const { status, body } = await client.post(`${db}/_bulk_docs`, { docs });
    assert.equal(status, 201);
    for (const [n, row] of body.entries()) {
      if (n % 3 === 0) assert.deepEqual(row, { id: `d${n}`, error: 'forbidden', reason: `bad: ${n + 1}` });
      else assert.equal(row.ok, true);
    }
    assert.equal((await client.get(db)).body.doc_count, 301);
  });

  test('replicated revisions', async () => {
    const db = await guardedDb();
    const docs = [
      { _id: 'a', _rev: '1-a', bad: true },
      { _id: 'b', _rev: '1-b' },
    ];
    const { body } = await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    assert.deepEqual(body, [{ id: 'a', rev: '1-a', error: 'forbidden', reason: 'bad: true' }]);
    assertRefused(await client.put(`${db}/a?new_edits=false`, { _rev: '1-a', bad: 1 }), 403, 'forbidden');
    assertRefused(await client.get(`${db}/a`), 404);
    assertOk(await client.get(`${db}/b`), 200);
  });

  test('deletions, copies and attachments', async () => {
    const db = await guardedDb(`if (old && old.locked) throw({forbidden: 'locked'});
      if (doc._attachments && doc._attachments['no.txt']) throw({forbidden: 'no ' + doc._attachments['no.txt'].length})`);
    const { rev } = (await client.put(`${db}/a`, { locked: true })).body;
    assertRefused(await client.delete(`${db}/a?rev=${rev}`), 403, 'forbidden');
    assertOk(await client.copy(`${db}/a`, 'b'), 201);
    assertRefused(await client.send('PUT', `${db}/b/x.txt?rev=${rev}`, { raw: 'x' }), 403, 'forbidden');
    const refused = await client.send('PUT', `${db}/c/no.txt`, { raw: 'four' });
    assert.deepEqual(refused.body, { error: 'forbidden', reason: 'no 4' });
    assertOk(await client.send('PUT', `${db}/c/yes.txt`, { raw: 'x' }), 201);
  });

  test('but no design documents and no local ones', async () => {
    const db = await guardedDb();
    assertOk(await client.put(`${db}/_design/other`, { bad: true }), 201);
    assertOk(await client.put(`${db}/_local/l`, { bad: true }), 201);
  });
});

describe('validation functions', () => {
  test('see the document, the one before it, the user and the security object', async () => {
    const db = await newDb(client);
    const validate = 'function(doc, old, user, security){ throw({forbidden: [doc, old, user, security]}) }';
    const { rev } = (await client.put(`${db}/a`, { n: 1 })).body;
    await client.put(`${db}/_security`, { admins: { names: ['x'] }, members: {}, own: true });
    await client.put(`${db}/_design/v`, { validate_doc_update: validate });
    const { body } = await client.put(`${db}/a`, { _rev: rev, n: 2, ключ: '😀' });
    const ids = [rev.slice(2)];
    assert.deepEqual(body, {
      error: 'forbidden',
      reason: [
        { _id: 'a', _rev: rev, n: 2, ключ: '😀', _revisions: { start: 1, ids } },
        { _id: 'a', _rev: rev, n: 1, _revisions: { start: 1, ids } },
        { db: db.slice(1), name: 'admin', roles: ['_admin'] },
        { admins: { names: ['x'] }, members: {}, own: true },
      ],
    });
    const fresh = (await client.put(`${db}/%C3%A9`, {})).body.reason;
    assert.deepEqual(fresh.slice(0, 2), [{ _id: 'é' }, null]);
    const deletion = (await client.delete(`${db}/a?rev=${rev}`)).body.reason;
    assert.equal(deletion[0]._deleted, true);
  });

  test('of all design documents must agree, and conflicts come first', async () => {
    const db = await guardedDb();
    await client.put(`${db}/_design/w`, {
      validate_doc_update: 'function(doc){ if (doc.worse) throw({unauthorized: "worse"}) }',
    });
    assertOk(await client.put(`${db}/a`, {}), 201);
    assertRefused(await client.put(`${db}/a`, { bad: true }), 409, 'conflict');
    assertRefused(await client.put(`${db}/b`, { worse: true }), 401, 'unauthorized');
    assertRefused(await client.put(`${db}/b`, { worse: true, bad: true }), 403, 'forbidden');
  });

  test('that fail make the write fail, under their own names', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_design/v`, {
      validate_doc_update: `function(doc){ if (doc.how == 'throw') throw new TypeError('oh');
        if (doc.how == 'name') throw {error: 'a "name"', reason: 'why'}; if (doc.how == 'loop') for (;;); }`,
    });
    assertRefused(await client.put(`${db}/a`, { how: 'throw' }), 500, 'TypeError');
    assertRefused(await client.put(`${db}/a`, { how: 'name' }), 500, 'a "name"');
    assertRefused(await client.put(`${db}/a`, { how: 'loop' }), 500, 'os_process_error');
    const { body } = await client.post(`${db}/_bulk_docs`, {
      docs: [{ _id: 'b', how: 'name' }, { _id: 'c' }],
    });
    assert.deepEqual(body[0], { id: 'b', error: 'a "name"', reason: 'why' });
    assert.equal(body[1].ok, true);
  });

  test('that cannot be compiled let nothing pass', async () => {
    const db = await newDb(client);
    await client.put(`${db}/_design/v`, { validate_doc_update: 'function(doc){' });
    assertRefused(await client.put(`${db}/a`, {}), 500, 'compilation_error');
    const { body } = await client.get(`${db}/_design/v`);
    assertOk(await client.delete(`${db}/_design/v?rev=${body._rev}`), 200);
    assertOk(await client.put(`${db}/a`, {}), 201);
  });
});

describe('a change of the functions', () => {
  test('counts from the next write on, whichever way it came', async () => {
    const db = await newDb(client);
    const refuseAll = (word: string) => ({
      validate_doc_update: `function(){ throw({forbidden: '${word}'}) }`,
    });
    const reasonOf = async () => (await client.put(`${db}/a${Math.random()}`, {})).body.reason;
    assert.equal(await reasonOf(), undefined);
    const { rev } = (await client.put(`${db}/_design/v`, refuseAll('one'))).body;
    assert.equal(await reasonOf(), 'one');
    await client.post(`${db}/_bulk_docs`, { docs: [{ _id: '_design/v', _rev: rev, ...refuseAll('two') }] });
    assert.equal(await reasonOf(), 'two');
    const winning = { _id: '_design/v', _rev: '5-f', ...refuseAll('three') };
    await client.post(`${db}/_bulk_docs`, { docs: [winning], new_edits: false });
    assert.equal(await reasonOf(), 'three');
    await client.post(`${db}/_purge`, { '_design/v': ['5-f'] });
    assert.equal(await reasonOf(), 'two');
    const { body } = await client.get(`${db}/_design/v`);
    await client.put(`${db}/_design/v`, { _rev: body._rev });
    assert.equal(await reasonOf(), undefined);
  });

  test('counts for a write that is being judged by the function before', async () => {
    const db = await newDb(client);
    const slow = 'function(doc){ var end = Date.now() + 600; while (Date.now() < end); }';
    const { rev } = (await client.put(`${db}/_design/v`, { validate_doc_update: slow })).body;
    const write = client.put(`${db}/a`, {});
    await new Promise((resolve) => setTimeout(resolve, 250));
    const strict = { _rev: rev, validate_doc_update: 'function(){ throw({forbidden: "strict"}) }' };
    assertOk(await client.put(`${db}/_design/v`, strict), 201);
    assert.deepEqual((await write).body, { error: 'forbidden', reason: 'strict' });
  });
});

test('an endless validation function does not hold up other databases', async () => {
  const bad = await newDb(client);
  await client.put(`${bad}/_design/v`, { validate_doc_update: 'function(){ for (;;); }' });
  const good = await guardedDb();
  await client.put(`${good}/warm`, {});
  const attack = Promise.all(Array.from({ length: 12 }, (_, n) => client.put(`${bad}/a${n}`, {})));
  const times: number[] = [];
  for (let i = 0; i < 10; i++) {
    const began = performance.now();
    assertOk(await client.put(`${good}/d${i}`, {}), 201);
    times.push(performance.now() - began);
  }
  // One may have to wait for the processors, which endless functions keep busy; not half of them.
  times.sort((x, y) => x - y);
  assert.ok(times[5]! < 900, `${times.map(Math.round).join(' ')} ms`);
  for (const answer of await attack) {
    // Those that waited behind a function that was stopped are refused with it.
    if (answer.status === 503) assertRefused(answer, 503, 'service_unavailable');
    else assertRefused(answer, 500, 'os_process_error');
  }
});
