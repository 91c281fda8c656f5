import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { assertOk, assertTypes } from '../support/expect.js';
import { startServer } from '../support/server.js';

const client = await startServer();

describe('Server information and versioning', () => {
  test('GET / answers 200 with each member of its type, to anybody', async () => {
    const answer = await client.anonymous.get('/');
    assertOk(answer, 200);
    assertTypes(answer.body, {
      'the service': 'string',
      uuid: 'string',
      'vendor.name': 'string',
      'vendor.version': 'string',
      version: 'string',
    });
  });

  test('CouchDB clients find the welcome under the name they know', async () => {
    assert.equal((await client.get('/')).body.couchdb, 'Welcome');
  });

  test('the server identifier stays the same from request to request', async () => {
    const first = await client.get('/');
    assert.match(first.body.uuid, /^[0-9a-f]{32}$/);
    assert.equal((await client.get('/')).body.uuid, first.body.uuid);
  });

  test('version is that of the interface, the version of the package is in vendor', async () => {
    const { body } = await client.get('/');
    const file = path.resolve(import.meta.dirname, '../../../package.json');
    const { version } = JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string };
    assert.match(body.version, /^3\.\d+\.\d+$/);
    assert.equal(body.vendor.version, version);
  });

  test('paths carry no version segment', async () => {
    assert.equal((await client.get('/v1')).status, 404);
  });

  test('HEAD / answers like GET without a body', async () => {
    const answer = await client.head('/');
    assertOk(answer, 200);
    assert.equal(answer.text, '');
  });
});

describe('Health, ids and pages', () => {
  test('GET /_up says ok to anybody', async () => {
    const answer = await client.anonymous.get('/_up');
    assertOk(answer, 200);
    assert.equal(answer.body.status, 'ok');
  });

  for (const mode of ['true', 'nolb']) {
    test(`GET /_up answers 404 while maintenance_mode is ${mode}`, async () => {
      await client.put('/_node/_local/_config/couchdb/maintenance_mode', mode);
      const answer = await client.get('/_up');
      await client.delete('/_node/_local/_config/couchdb/maintenance_mode');
      assertOk(answer, 404);
      assert.equal((await client.get('/_up')).status, 200);
    });
  }

  test('GET /_uuids gives one id unless told how many, with an ETag', async () => {
    const one = await client.anonymous.get('/_uuids');
    assertOk(one, 200);
    assert.equal(one.body.uuids.length, 1);
    assert.equal(typeof one.body.uuids[0], 'string');
    assert.ok(one.headers.etag);
    const { body } = await client.get('/_uuids?count=7');
    assert.equal(new Set(body.uuids).size, 7);
    assert.deepEqual((await client.get('/_uuids?count=0')).body.uuids, []);
  });

  test('more ids than are allowed are refused with 400', async () => {
    assertOk(await client.get('/_uuids?count=1000'), 200);
    assertOk(await client.get('/_uuids?count=1001'), 400);
    for (const count of ['-1', 'x', '1.5', '1e3']) {
      assertOk(await client.get(`/_uuids?count=${count}`), 400);
    }
  });

  test('GET /_utils leads to /_utils/ with 301', async () => {
    const answer = await client.anonymous.get('/_utils');
    assertOk(answer, 301);
    assert.match(answer.headers.location ?? '', /\/_utils\/$/);
  });

  test('GET /_utils/ is a page in HTML with the time of its last change', async () => {
    const answer = await client.anonymous.get('/_utils/');
    assertOk(answer, 200);
    assert.match(answer.headers['content-type'] ?? '', /^text\/html/);
    assert.ok(!Number.isNaN(Date.parse(answer.headers['last-modified'] ?? '')));
  });

  test('GET /favicon.ico is an icon', async () => {
    const answer = await client.anonymous.get('/favicon.ico');
    assertOk(answer, 200);
    assert.equal(answer.headers['content-type'], 'image/x-icon');
  });
});
