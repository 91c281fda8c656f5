import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const config = '/_node/_local/_config';
const db = await newDb(client);
await client.send('PUT', `${db}/a/page.html`, {
  raw: '<script>alert(1)</script>',
  headers: { 'content-type': 'text/html' },
});

describe('The page', () => {
  test('may load its own files, and no others, and stands in no frame', async () => {
    const { headers } = await client.get('/_utils/');
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.match(policy, /connect-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });

  test('has the policy that is configured, or none', async () => {
    await client.put(`${config}/csp/utils_header_value`, "default-src 'none'");
    assert.equal((await client.get('/_utils/')).headers['content-security-policy'], "default-src 'none'");
    await client.delete(`${config}/csp/utils_header_value`);
    await client.put(`${config}/csp/enable`, 'false');
    assert.equal((await client.get('/_utils/')).headers['content-security-policy'], undefined);
    await client.delete(`${config}/csp/enable`);
    assertRefused(await client.put(`${config}/csp/utils_header_value`, 'a\u00e9\u2028'), 400);
  });
});

describe('An attachment', () => {
  test('is not run by a browser in the name of the server', async () => {
    for (const range of [null, 'bytes=0-3', 'bytes=0-1,4-5']) {
      const { headers } = await client.get(`${db}/a/page.html`, { range });
      assert.equal(headers['content-security-policy'], 'sandbox', String(range));
    }
    assert.equal((await client.get(`${db}/a/page.html`)).headers['x-content-type-options'], 'nosniff');
  });

  test('has the policy that is configured, or none', async () => {
    await client.put(`${config}/csp/attachments_header_value`, 'sandbox allow-scripts');
    const own = await client.get(`${db}/a/page.html`);
    await client.delete(`${config}/csp/attachments_header_value`);
    await client.put(`${config}/csp/attachments_enable`, 'false');
    const none = await client.get(`${db}/a/page.html`);
    await client.delete(`${config}/csp/attachments_enable`);
    assert.equal(own.headers['content-security-policy'], 'sandbox allow-scripts');
    assert.equal(none.headers['content-security-policy'], undefined);
  });
});

test('enable_xframe_options keeps every answer out of the frames of other pages', async () => {
  assert.equal((await client.get(db)).headers['x-frame-options'], undefined);
  await client.put(`${config}/chttpd/enable_xframe_options`, 'true');
  const answers = [await client.get(db), await client.get('/none'), await client.get('/_utils/')];
  await client.delete(`${config}/chttpd/enable_xframe_options`);
  assert.deepEqual(
    answers.map(({ headers }) => headers['x-frame-options']),
    ['DENY', 'DENY', 'DENY'],
  );
});

test('x_frame_options lets pages of the same origin, or of some hosts, show answers in a frame', async () => {
  const framed = await startServer({
    config: { chttpd: { enable_xframe_options: 'true' }, x_frame_options: { same_origin: 'true' } },
  });
  const files = await newDb(framed);
  await framed.send('PUT', `${files}/a/f`, { raw: 'x', headers: { 'content-type': 'text/plain' } });
  const own = await framed.get('/');
  assert.equal(own.headers['x-frame-options'], 'SAMEORIGIN');
  assert.equal(own.headers['content-security-policy'], undefined);
  await framed.put(`${config}/x_frame_options/hosts`, 'https://a.example, https://b.example:8443');
  assert.equal((await framed.get('/')).headers['x-frame-options'], 'SAMEORIGIN');
  await framed.put(`${config}/x_frame_options/same_origin`, 'false');
  const ancestors = 'frame-ancestors https://a.example https://b.example:8443';
  const plain = await framed.get('/');
  assert.equal(plain.headers['x-frame-options'], 'DENY');
  assert.equal(plain.headers['content-security-policy'], ancestors);
  const file = await framed.get(`${files}/a/f`);
  assert.equal(file.headers['content-security-policy'], `sandbox, ${ancestors}`);
  const page = await framed.get('/_utils/');
  assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/);
  for (const hosts of ["https://a.example; script-src 'none'", 'a b', 'https://a/b']) {
    assertRefused(await framed.put(`${config}/x_frame_options/hosts`, hosts), 400);
  }
});

describe('Addresses in answers', () => {
  const location = async (headers: Record<string, string | null>): Promise<string> =>
    String((await client.get('/_utils', headers)).headers.location);

  test('are those that the client, or a proxy before the server, asked for', async () => {
    assert.equal(await location({ host: 'a.example' }), 'http://a.example/_utils/');
    const forwarded = { host: 'a.example', 'x-forwarded-host': 'b.example', 'x-forwarded-proto': 'https' };
    assert.equal(await location(forwarded), 'https://a.example/_utils/');
    assert.match(await location({ 'x-forwarded-ssl': 'on' }), /^https:/);
  });

  test('heed the names that the configuration gives to the headers of a proxy', async () => {
    await client.put(`${config}/chttpd/x_forwarded_host`, 'X-Real-Host');
    const found = await location({ 'x-real-host': 'c.example', 'x-forwarded-host': 'b.example' });
    await client.delete(`${config}/chttpd/x_forwarded_host`);
    assert.equal(found, 'http://c.example/_utils/');
  });
});
