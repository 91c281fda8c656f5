import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);

describe('Errors', () => {
  test('a database that exists: 412 file_exists', async () => {
    const answer = await client.put(db);
    assertRefused(answer, 412, 'file_exists');
    assert.match(answer.body.reason, /could not be created, the file already exists/);
  });

  test('an invalid name: 400 illegal_database_name, with the name and the rule', async () => {
    const answer = await client.put('/Wrong');
    assertRefused(answer, 400, 'illegal_database_name');
    assert.match(answer.body.reason, /'Wrong'.*lowercase.*digits.*begin with a letter/i);
  });

  test('an update without the latest rev: 409 conflict', async () => {
    await client.put(`${db}/a`, {});
    const answer = await client.put(`${db}/a`, {});
    assertRefused(answer, 409, 'conflict');
    assert.match(answer.body.reason, /document update conflict/i);
  });

  test('a missing key in a keyed listing: a row with key and error only', async () => {
    const answer = await client.post(`${db}/_all_docs`, { keys: ['nothing'] });
    assertOk(answer, 200);
    assert.deepEqual(answer.body.rows, [{ key: 'nothing', error: 'not_found' }]);
  });

  test('a bulk write: failures stand in the body of a 201', async () => {
    const answer = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'a' }] });
    assertOk(answer, 201);
    assert.deepEqual(Object.keys(answer.body[0]).sort(), ['error', 'id', 'reason']);
  });

  test('DELETE of a database with rev: 400', async () => {
    assertRefused(await client.delete(`${db}?rev=1-a`), 400, 'bad_request');
    assertRefused(await client.delete(`${db}?rev=`), 400, 'bad_request');
  });

  test('every refusal is a JSON object with error and reason', async () => {
    const requests: [method: string, path: string, status: number][] = [
      ['GET', '/nowhere', 404],
      ['GET', '/nowhere/a', 404],
      ['GET', `${db}/nothing`, 404],
      ['GET', `${db}/a?rev=x`, 400],
      ['GET', `${db}/a?rev=1-abc`, 404],
      ['DELETE', `${db}/nothing`, 404],
      ['PATCH', `${db}/a`, 405],
      ['PUT', '/_all_dbs', 405],
      ['POST', '/', 405],
      ['DELETE', '/_up', 405],
      ['PATCH', db, 405],
      ['GET', '/_nothing', 404],
      ['GET', `${db}/_nothing`, 404],
      ['COPY', `${db}/a`, 400],
    ];
    for (const [method, path, status] of requests) assertRefused(await client.send(method, path), status);
  });

  test('a method that is not allowed is told which are', async () => {
    const answer = await client.send('PUT', '/_all_dbs');
    assertRefused(answer, 405, 'method_not_allowed');
    assert.equal(answer.headers.allow, 'GET,HEAD');
  });

  test('broken JSON is 400', async () => {
    for (const raw of ['', '{', '{"a":}', '[1', 'nul', '{"a":1}}', '{a:1}', "{'a':1}", '\ufeff{}']) {
      assertRefused(await client.send('PUT', `${db}/broken`, { raw }), 400);
      assertRefused(await client.send('POST', db, { raw }), 400);
      assertRefused(await client.send('POST', `${db}/_bulk_docs`, { raw }), 400);
    }
    assertRefused(await client.get(`${db}/broken`), 404);
  });

  test('wrong credentials are 401 wherever they are used', async () => {
    for (const path of [db, `${db}/a`, '/_all_dbs']) {
      assertRefused(await client.as('admin:wrong').get(path), 401, 'unauthorized');
      assertRefused(await client.as('nobody:secret').get(path), 401, 'unauthorized');
    }
  });
});

describe('Limits', () => {
  test('a database has 8 shards by default', async () => {
    assert.equal((await client.get(db)).body.cluster.q, 8);
  });

  test('a database has at most 3 copies', async () => {
    assert.ok((await client.get(db)).body.cluster.n <= 3);
  });

  test('_purged_infos_limit is soft: it is held after a compaction', async () => {
    const home = await newDb(client, '?q=1');
    await client.put(`${home}/_purged_infos_limit`, 2);
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      const { rev } = (await client.put(`${home}/${id}`, {})).body;
      await client.post(`${home}/_purge`, { [id]: [rev] });
    }
    await client.post(`${home}/_compact`);
    for (let tries = 0; tries < 100; tries++) {
      if (!(await client.get(home)).body.compact_running) break;
    }
    const { purged_infos: infos } = (await client.get(`${home}/_purged_infos`)).body;
    assert.ok(infos.length <= 2, JSON.stringify(infos));
    assert.equal((await client.get(home)).body.purge_seq, 5);
  });

  test('more purges than one step forgets are held to _purged_infos_limit by one compaction', async () => {
    const home = await newDb(client, '?q=1');
    const docs = Array.from({ length: 2_300 }, (_, n) => ({ _id: `d${n}` }));
    const saved = (await client.post(`${home}/_bulk_docs`, { docs })).body as { id: string; rev: string }[];
    for (let at = 0; at < saved.length; at += 100) {
      const some = saved.slice(at, at + 100).map(({ id, rev }) => [id, [rev]]);
      await client.post(`${home}/_purge`, Object.fromEntries(some));
    }
    await client.put(`${home}/_purged_infos_limit`, 2);
    await client.post(`${home}/_compact`);
    for (let tries = 0; tries < 1_000; tries++) {
      if (!(await client.get(home)).body.compact_running) break;
    }
    const { purged_infos: infos } = (await client.get(`${home}/_purged_infos`)).body;
    assert.ok(infos.length <= 2, String(infos.length));
  });
});
