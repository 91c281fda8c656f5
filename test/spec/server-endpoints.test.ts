import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, assertTypes } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ config: { tuffet: { auto_setup: 'false' } } });
const names = ['alpha', 'beta', 'delta', 'gamma'];
for (const name of names) await client.put(`/${name}`);

describe('Listing databases', () => {
  const cases: [query: string, wanted: string[]][] = [
    ['', names],
    ['descending=true', [...names].reverse()],
    ['descending=false', names],
    ['startkey="beta"', ['beta', 'delta', 'gamma']],
    ['start_key="beta"', ['beta', 'delta', 'gamma']],
    ['endkey="beta"', ['alpha', 'beta']],
    ['end_key="beta"', ['alpha', 'beta']],
    ['limit=2', ['alpha', 'beta']],
    ['limit=0', []],
    ['skip=3', ['gamma']],
    ['skip=1&limit=1', ['beta']],
    ['startkey="b"&endkey="e"', ['beta', 'delta']],
    ['descending=true&startkey="delta"&endkey="beta"', ['delta', 'beta']],
  ];
  for (const [query, wanted] of cases) {
    test(`GET /_all_dbs and GET /_dbs_info with "${query}" give ${wanted.join(', ') || 'nothing'}`, async () => {
      const listed = await client.get(`/_all_dbs?${encodeURI(query)}`);
      assertOk(listed, 200);
      assert.deepEqual(listed.body, wanted);
      const infos = await client.get(`/_dbs_info?${encodeURI(query)}`);
      assertOk(infos, 200);
      assert.deepEqual(
        infos.body.map(({ key, info }: { key: string; info: { db_name: string } }) => [key, info.db_name]),
        wanted.map((name) => [name, name]),
      );
    });
  }

  test('wrong values of the parameters are refused with 400', async () => {
    for (const query of ['limit=x', 'limit=-1', 'skip=1.5', 'descending=maybe', 'startkey=%7B']) {
      assertRefused(await client.get(`/_all_dbs?${query}`), 400);
      assertRefused(await client.get(`/_dbs_info?${query}`), 400);
    }
  });
});

describe('POST /_dbs_info', () => {
  test('gives the named databases in their order, and tells which do not exist', async () => {
    const { status, body } = await client.post('/_dbs_info', { keys: ['gamma', 'nowhere', 'alpha'] });
    assert.equal(status, 200);
    assert.deepEqual(
      body.map(({ key }: { key: string }) => key),
      ['gamma', 'nowhere', 'alpha'],
    );
    assert.equal(body[0].info.db_name, 'gamma');
    assert.equal(body[1].info, undefined);
    assert.equal(body[1].error, 'not_found');
  });

  test('without keys it is refused with 400', async () => {
    assertRefused(await client.post('/_dbs_info', {}), 400, 'bad_request');
    assertRefused(await client.post('/_dbs_info', { keys: 'alpha' }), 400, 'bad_request');
  });

  test('100 keys are taken and 101 are refused with 400', async () => {
    const keys = Array.from({ length: 100 }, () => 'alpha');
    assertOk(await client.post('/_dbs_info', { keys }), 200);
    assertRefused(await client.post('/_dbs_info', { keys: [...keys, 'alpha'] }), 400, 'bad_request');
  });

  test('max_db_number_for_dbs_info_req sets how many', async () => {
    const option = '/_node/_local/_config/chttpd/max_db_number_for_dbs_info_req';
    await client.put(option, '2');
    assertRefused(await client.post('/_dbs_info', { keys: ['alpha', 'beta', 'gamma'] }), 400);
    assertOk(await client.post('/_dbs_info', { keys: ['alpha', 'beta'] }), 200);
    await client.delete(option);
  });
});

describe('The node and its cluster', () => {
  test('GET /_membership lists node names', async () => {
    const { status, body } = await client.get('/_membership');
    assert.equal(status, 200);
    assert.deepEqual(body.all_nodes, body.cluster_nodes);
    assert.equal(body.all_nodes.length, 1);
    assert.match(body.all_nodes[0], /^[\w.-]+@[\w.-]+$/);
  });

  test('the node is reached by its name and by _local', async () => {
    const [node] = (await client.get('/_membership')).body.all_nodes;
    assertOk(await client.get(`/_node/${node}/_system`), 200);
    assertOk(await client.get('/_node/_local/_system'), 200);
    assertRefused(await client.get('/_node/nobody@nowhere/_system'), 404, 'not_found');
  });

  test('GET /_node/{node-name}/_system tells uptime and memory', async () => {
    const answer = await client.get('/_node/_local/_system');
    assertOk(answer, 200);
    assertTypes(answer.body, { uptime: 'number', memory: 'object' });
  });

  test('GET /_node/{node-name}/_versions tells what it is built on', async () => {
    const answer = await client.get('/_node/_local/_versions');
    assertOk(answer, 200);
    assertTypes(answer.body, {
      'javascript_engine.name': 'string',
      'javascript_engine.version': 'string',
      'runtime.version': 'string',
      'runtime.supported_hashes': 'array',
      'collation_driver.name': 'string',
      'collation_driver.library_version': 'string',
      'collation_driver.collator_version': 'string',
      'collation_driver.collation_algorithm_version': 'string',
    });
    for (const hash of answer.body.runtime.supported_hashes) assert.equal(typeof hash, 'string');
  });

  test('POST /_search_analyze refuses a body without its members with 400', async () => {
    assertRefused(await client.post('/_search_analyze', {}), 400);
    assertRefused(await client.post('/_search_analyze', { analyzer: 'english' }), 400);
    assertRefused(await client.post('/_search_analyze', { text: 'words' }), 400);
    assertRefused(await client.send('POST', '/_search_analyze', { raw: '{"analyzer"' }), 400);
  });
});

describe('What demands a server admin', () => {
  test('each endpoint marked 401 refuses anonymous requests', async () => {
    const db = await newDb(client);
    const requests: [method: string, path: string, json?: unknown][] = [
      ['GET', '/_active_tasks'],
      ['GET', '/_node/_local/_config'],
      ['GET', '/_node/_local/_config/log'],
      ['GET', '/_node/_local/_config/log/level'],
      ['PUT', '/_node/_local/_config/log/level', 'info'],
      ['DELETE', '/_node/_local/_config/log/level'],
      ['POST', '/_node/_local/_config/_reload'],
      ['GET', '/_node/_local/_config/admins'],
      ['PUT', '/_node/_local/_config/admins/eve', 'secret'],
      ['DELETE', db],
      ['PUT', '/somewhere'],
      ['PUT', `${db}/_security`, {}],
    ];
    for (const [i, [method, path, json]] of requests.entries()) {
      assertRefused(await client.anonymous.send(method, path, { json }), 401, 'unauthorized');
      const stranger = client.as(`admin${i}:wrong`);
      assertRefused(await stranger.send(method, path, { json }), 401, 'unauthorized');
    }
    assertOk(await client.get(db), 200);
  });
});
