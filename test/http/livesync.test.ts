import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../support/server.js';

const client = await startServer();
const origins = ['app://obsidian.md', 'capacitor://localhost', 'http://localhost'];

/** What the set-up script of the LiveSync plugin puts into the configuration. */
const options = {
  'chttpd/require_valid_user': 'true',
  'chttpd_auth/require_valid_user': 'true',
  'httpd/WWW-Authenticate': 'Basic realm="couchdb"',
  'httpd/enable_cors': 'true',
  'chttpd/enable_cors': 'true',
  'chttpd/max_http_request_size': '4294967296',
  'couchdb/max_document_size': '50000000',
  'cors/credentials': 'true',
  'cors/origins': origins.join(','),
};

for (const node of ['nonode@nohost', 'couchdb@127.0.0.1', '_local']) {
  test(`the set-up requests of LiveSync succeed for the node ${node}`, async () => {
    const setUp = await client.post('/_cluster_setup', {
      action: 'enable_single_node',
      username: 'admin',
      password: 'secret',
      bind_address: '0.0.0.0',
      port: 5984,
      singlenode: true,
    });
    assert.equal(setUp.status, 201, setUp.text);
    for (const [name, value] of Object.entries(options)) {
      const { status, text } = await client.put(`/_node/${node}/_config/${name}`, value);
      assert.equal(status, 200, `${name}: ${text}`);
      assert.equal((await client.get(`/_node/${node}/_config/${name}`)).body, value);
    }
  });
}

test('a node of another name is still not found', async () => {
  assert.equal((await client.get('/_node/other@nohost/_config')).status, 404);
});

test('after the set-up a vault can be used from the app’s origins, and only with a login', async () => {
  assert.equal((await client.anonymous.get('/')).status, 401);
  for (const origin of origins) {
    const preflight = await client.anonymous.send('OPTIONS', '/vault', {
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization, content-type',
      },
    });
    assert.ok(preflight.status === 200 || preflight.status === 204, preflight.text);
    assert.equal(preflight.headers['access-control-allow-origin'], origin);
    assert.equal(preflight.headers['access-control-allow-credentials'], 'true');
  }
  const made = await client.send('PUT', '/vault', { headers: { origin: origins[0]! } });
  assert.equal(made.status, 201);
  const chunk = { _id: 'h:+chunk', data: 'x'.repeat(9_000_000), type: 'leaf' };
  const saved = await client.post('/vault/_bulk_docs', { docs: [chunk] });
  assert.equal(saved.status, 201);
  assert.equal(saved.body[0].ok, true);
  const stranger = await client.send('GET', '/vault', { headers: { origin: 'https://elsewhere.example' } });
  assert.equal(stranger.headers['access-control-allow-origin'], undefined);
});
