import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const shows = {
  s: 'function(doc, req){ return {json: {q: req.query, p: req.path.slice(2), r: req.requested_path, b: req.body, h: req.headers, m: req.method}} }',
};

async function rewritingDb(rewrites: unknown): Promise<string> {
  const db = await newDb(client);
  await client.put(`${db}/a`, { n: 1 });
  const views = { v: { map: 'function(doc){ emit([doc.n, "x"], 1); emit(doc.n, 2) }' } };
  assertOk(await client.put(`${db}/_design/d`, { rewrites, shows, views }), 201);
  return `${db}/_design/d/_rewrite`;
}

describe('rewrite rules', () => {
  test('put what they found into paths and parameters', async () => {
    const path = await rewritingDb([
      { from: '/two/:x/:y', to: '_show/s/:y', query: { first: ':x', list: [':x', { y: ':y' }] } },
      { from: '/rest/*', to: '/_show/s/*' },
      { from: '/named', to: '_show/s/:id' },
      { from: '/with', to: '_show/s?fixed=1&other=2' },
      { from: '/int/:k', to: '_view/v', query: { key: ':k' }, formats: { k: 'int' } },
      { from: '/array/:k', to: '_view/v', query: { key: [':k', 'x'] }, formats: { k: 'int' } },
      { from: '/fixed', to: '_view/v', query: { key: '1' } },
    ]);
    const two = (await client.get(`${path}/two/%C3%A9/b%2Fc`)).body;
    assert.deepEqual(two.p, ['d', '_show', 's', 'b/c']);
    assert.deepEqual(two.q, { first: 'é', list: '["é",{"y":"b/c"}]', x: 'é', y: 'b/c' });
    assert.deepEqual(two.r.slice(3), ['_rewrite', 'two', 'é', 'b/c']);
    assert.deepEqual((await client.get(`${path}/rest/a/b`)).body.p, ['d', '_show', 's', 'a', 'b']);
    assert.deepEqual((await client.get(`${path}/named?id=a`)).body.p, ['d', '_show', 's', 'a']);
    assert.deepEqual((await client.get(`${path}/with?more=3`)).body.q, { fixed: '1', other: '2', more: '3' });
    assert.equal((await client.get(`${path}/int/1`)).body.rows[0].value, 2);
    assert.equal((await client.get(`${path}/array/1`)).body.rows[0].value, 1);
    assert.equal((await client.get(`${path}/fixed`)).body.rows[0].value, 2);
  });

  test('stay in their database, and in the rights of the one who asks', async () => {
    const path = await rewritingDb([
      { from: '/up', to: '../../../_all_dbs' },
      { from: '/far', to: '../../../../../_node/_local/_config' },
      { from: '/escaped', to: '%2e%2e/%2e%2e/%2e%2e/_all_dbs' },
      { from: '/other/*', to: '../../../*' },
      { from: '/design', to: '../../_design/d', method: 'DELETE' },
    ]);
    for (const name of ['up', 'far', 'escaped', 'other/_users/x'])
      assertRefused(await client.get(`${path}/${name}`), 400, 'bad_request');
    const { _rev: rev } = (await client.get(path.replace('/_rewrite', ''))).body;
    assertRefused(await client.anonymous.delete(`${path}/design?rev=${rev}`), 401, 'unauthorized');
  });

  test('that run in circles are stopped', async () => {
    const path = await rewritingDb([{ from: '*', to: '_rewrite/*' }]);
    assertRefused(await client.get(`${path}/x`), 400, 'bad_request');
  });

  test('that are no rules fit nothing', async () => {
    const path = await rewritingDb([5, null, 'x', {}, { from: '/x' }, { from: 5, to: '_show/s' }, { to: 7 }]);
    assertRefused(await client.get(`${path}/x`), 404, 'not_found');
  });
});

describe('rewrite functions', () => {
  test('change path, query, method, headers and body', async () => {
    const path = await rewritingDb(
      `function(req){ return {path: '_show/s', method: 'POST', query: {a: 1}, headers: {'X-New': 'yes'}, body: 'é' + req.body} }`,
    );
    const { body } = await client.send('PUT', `${path}/x?gone=1`, { raw: 'sent' });
    assert.deepEqual([body.q, body.b, body.m, body.h['X-New']], [{ a: '1' }, 'ésent', 'POST', 'yes']);
  });

  test('leave the body to what they lead to', async () => {
    const path = await rewritingDb(`function(req){ return '../../' + req.query.id }`);
    assertOk(await client.put(`${path}/x?id=new`, { made: 1 }), 201);
    assertOk(await client.get(`${path}/x?id=new`), 200);
  });

  test('may answer themselves, or refuse', async () => {
    const path = await rewritingDb(
      `function(req){ var last = req.path.pop(); if (last == 'self') return {code: 202, body: 'self'}; if (last == 'throw') throw {forbidden: 'x'};
        if (last == 'bad') return {path: 5}; if (last == 'method') return {path: '_show/s', method: 'BREW'}; return null }`,
    );
    const self = await client.get(`${path}/self`);
    assert.deepEqual([self.status, self.text], [202, 'self']);
    assertRefused(await client.get(`${path}/throw`), 500, 'rewrite_error');
    assertRefused(await client.get(`${path}/bad`), 404, 'rewrite_error');
    assertRefused(await client.get(`${path}/method`), 500, 'rewrite_error');
    assertRefused(await client.get(`${path}/none`), 404, 'rewrite_error');
  });
});
