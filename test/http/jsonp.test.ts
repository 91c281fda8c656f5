import assert from 'node:assert/strict';
import vm from 'node:vm';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ config: { chttpd: { allow_jsonp: 'true' } } });
const db = await newDb(client);
await client.put(`${db}/a`, { text: '\u2028 </script> é' });
const docs = Array.from({ length: 3000 }, (_, i) => ({ _id: `d${i}`, text: 'x'.repeat(100) }));
await client.post(`${db}/_bulk_docs`, { docs });

/** What the function that an answer calls is handed. */
function called(text: string, name = 'cb'): unknown {
  let value: unknown;
  const take = (given: unknown): void => void (value = JSON.parse(JSON.stringify(given)));
  vm.runInNewContext(text, { [name]: take }, { timeout: 1000 });
  return value;
}

describe('With allow_jsonp', () => {
  test('an answer is a call of the function that is named, with the JSON', async () => {
    for (const path of [
      '/',
      db,
      `${db}/a`,
      `${db}/_all_docs?limit=2`,
      `${db}/_all_docs?include_docs=true`,
      `${db}/a?open_revs=all`,
      `${db}/none`,
    ]) {
      const plain = await client.get(path);
      const answer = await client.get(`${path}${path.includes('?') ? '&' : '?'}callback=cb`);
      assert.equal(answer.status, plain.status);
      assert.equal(answer.headers['content-type'], 'application/javascript');
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.match(answer.text, /^\/\*[^*]*\*\/cb\(/);
      if (path !== db) assert.deepEqual(called(answer.text), plain.body, path);
    }
  });

  test('a name may be a path of members, and nothing else', async () => {
    assertOk(await client.get(`/?callback=${encodeURIComponent('a.b_$[0]')}`), 200);
    for (const name of ['', 'a b', 'alert(1)//', "a['b']", 'a;b', 'a\n', '</script>', 'é', 'a,b', 'a=b']) {
      const answer = await client.get(`/?callback=${encodeURIComponent(name)}`);
      assertRefused(answer, 400, 'bad_request');
      assert.equal(answer.body.reason, 'invalid_callback');
      assert.equal(answer.headers['content-type'], 'application/json');
    }
  });

  test('attachments and the page stay what they are', async () => {
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    await client.send('PUT', `${db}/b/file`, { raw: 'as it is', headers });
    assert.equal((await client.get(`${db}/b/file?callback=cb`)).text, 'as it is');
    assert.match((await client.get('/_utils/?callback=cb')).text, /^<!doctype html>/);
  });

  test('HEAD has the head of it and no body', async () => {
    const answer = await client.head(`${db}/_all_docs?include_docs=true&callback=cb`);
    assertOk(answer, 200);
    assert.equal(answer.headers['content-type'], 'application/javascript');
    assert.equal(answer.text, '');
  });
});

test('without it the parameter means nothing', async () => {
  const off = await startServer();
  const answer = await off.get('/?callback=cb');
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.body.couchdb, 'Welcome');
});
