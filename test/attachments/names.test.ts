import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { boundary, getBytes, multipart, putBytes, related, sendBytes } from './attachment-client.js';

const client = await startServer();

/** A name, and the path that it is asked for by. */
const names: readonly [name: string, path: string][] = [
  ['plain.txt', 'plain.txt'],
  ['a/b/c.txt', 'a/b/c.txt'],
  ['a/b/c.txt', 'a%2Fb%2Fc.txt'],
  ['with space', 'with%20space'],
  ['with space', 'with+space'],
  ['a+b', 'a%2Bb'],
  ['100%', '100%25'],
  ['%41', '%2541'],
  ['é日本😀', encodeURIComponent('é日本😀')],
  ['quote"back\\slash', 'quote%22back%5Cslash'],
  ['?&#=', '%3F%26%23%3D'],
  ['a_b', 'a_b'],
  ['constructor', 'constructor'],
  ['.', '.'],
  ['..', '%2E%2E'],
  ['line\nbreak', 'line%0Abreak'],
  ['1', '1'],
];

for (const [name, path] of names) {
  test(`${JSON.stringify(name)} is put and got as ${path}`, async () => {
    const db = await newDb(client);
    const put = await sendBytes(client, 'PUT', `${db}/d/${path}`, { body: name });
    assert.equal(put.status, 201);
    const { body } = await client.get(`${db}/d`);
    assert.deepEqual(Object.keys(body._attachments), [name]);
    assert.equal((await getBytes(client, `${db}/d/${path}`)).bytes.toString(), name);
    const location = put.headers.location!.slice(client.url.length);
    assert.equal((await getBytes(client, location)).bytes.toString(), name, location);
    assertOk(await client.delete(`${db}/d/${path}?rev=${body._rev}`), 200);
    const inline = { _attachments: { [name]: { data: Buffer.from('inline').toString('base64') } } };
    assertOk(await client.put(`${db}/e`, inline), 201);
    assert.equal((await getBytes(client, `${db}/e/${path}`)).bytes.toString(), 'inline');
  });
}

test('documents may have odd ids too', async () => {
  const db = await newDb(client);
  for (const id of ['a%2Fb', encodeURIComponent('é%'), '%5Fd', 'x+y']) {
    const path = `${db}/${id.replace('%5F', 'x')}/f`;
    await putBytes(client, path, id);
    assert.equal((await getBytes(client, path)).bytes.toString(), id);
  }
});

test('some names nobody may have', async () => {
  const db = await newDb(client);
  for (const path of ['_hidden', '%5Fhidden', '%FF%FE']) {
    const answer = await sendBytes(client, 'PUT', `${db}/d/${path}`, { body: 'x' });
    assert.equal(answer.status, 400, path);
  }
  for (const name of ['', '_hidden', '__proto__']) {
    const text = `{"_attachments":{${JSON.stringify(name)}:{"data":"YQ=="}}}`;
    assertRefused(await client.send('PUT', `${db}/d`, { raw: text }), 400, 'bad_request');
  }
  assertRefused(await client.get(`${db}/d`), 404);
});

const numbered = '{"_attachments":{"z":{"follows":true},"1":{"follows":true}}}';

test('parts go to the entries in the order of the text, numbers too', async () => {
  const db = await newDb(client);
  const body = multipart(numbered, [{ body: 'of z' }, { body: 'of 1' }]);
  assert.equal((await sendBytes(client, 'PUT', `${db}/d`, { headers: related, body })).status, 201);
  assert.equal((await getBytes(client, `${db}/d/z`)).bytes.toString(), 'of z');
  assert.equal((await getBytes(client, `${db}/d/1`)).bytes.toString(), 'of 1');
});

test('named parts go to entries that are numbers', async () => {
  const db = await newDb(client);
  const part = (name: string) => ({
    headers: { 'Content-Disposition': `attachment; filename="${name}"` },
    body: `of ${name}`,
  });
  const body = multipart(numbered, [part('z'), part('1')]);
  const answer = await sendBytes(client, 'PUT', `${db}/d`, { headers: related, body });
  assert.equal(answer.status, 201, answer.bytes.toString());
});

test('names come back in the headers of parts without breaking them', async () => {
  const db = await newDb(client);
  const odd = 'a"b\r\nX-Evil: 1\r\n\r\né';
  const entry = { data: Buffer.from(boundary).toString('base64') };
  assertOk(await client.put(`${db}/d`, { _attachments: { [odd]: entry } }), 201);
  const answer = await getBytes(client, `${db}/d?attachments=true`, { accept: 'multipart/related' });
  assert.equal(answer.status, 200);
  assert.doesNotMatch(answer.bytes.toString(), /^X-Evil/m);
});
