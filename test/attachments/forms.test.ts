import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const page = { referer: `${client.url}/page` };

/** A form as browsers send it. */
const form = (...fields: { name: string; file?: string; type?: string; text: string }[]): string =>
  fields
    .map(({ name, file, type, text }) => {
      const filename = file === undefined ? '' : `; filename="${file}"`;
      const content = type === undefined ? '' : `Content-Type: ${type}\r\n`;
      return `--xx\r\nContent-Disposition: form-data; name="${name}"${filename}\r\n${content}\r\n${text}\r\n`;
    })
    .join('') + '--xx--\r\n';

const post = (path: string, body: string, headers: Record<string, string> = page) =>
  client.send('POST', path, {
    raw: body,
    headers: { 'content-type': 'multipart/form-data; boundary=xx', ...headers },
  });

test('a form makes a document, and adds files to a revision, replacing those of the same name', async () => {
  const db = await newDb(client);
  const made = await post(
    `${db}/d`,
    form({ name: '_doc', text: '{"n":1}' }, { name: '_attachments', file: 'a.bin', text: 'one' }),
  );
  assertOk(made, 201);
  const first = made.body.rev as string;
  assert.equal(made.headers.etag, `"${first}"`);
  const files = [
    { name: '_attachments', file: 'a.bin', type: 'image/png', text: 'two' },
    { name: '_attachments', file: 'b.bin', type: 'image/png', text: 'three' },
    { name: 'ignored', text: 'x' },
  ];
  assertOk(await post(`${db}/d`, form({ name: '_rev', text: first }, ...files)), 201);
  assertOk(
    await post(`${db}/d`, form({ name: '_rev', text: (await client.get(`${db}/d`)).body._rev as string })),
    201,
  );
  const doc = (await client.get(`${db}/d?attachments=true`)).body;
  const data = (name: string): string =>
    Buffer.from(doc._attachments[name].data as string, 'base64').toString();
  assert.deepEqual([doc.n, data('a.bin'), data('b.bin')], [1, 'two', 'three']);
  assert.equal(doc._attachments['a.bin'].content_type, 'image/png');
  assertRefused(await post(`${db}/d`, form({ name: '_rev', text: first }, files[0]!)), 409, 'conflict');
});

test('forms of other pages and malformed ones are refused', async () => {
  const db = await newDb(client);
  const good = form({ name: '_doc', text: '{}' });
  assertRefused(await post(`${db}/d`, good, {}), 400, 'bad_request');
  assertRefused(await post(`${db}/d`, good, { referer: 'http://evil.example/' }), 400, 'bad_request');
  assertRefused(await post(`${db}/d`, good, { referer: 'nonsense' }), 400, 'bad_request');
  assertRefused(
    await post(`${db}/d`, good, { ...page, 'content-type': 'text/plain' }),
    415,
    'bad_content_type',
  );
  assertRefused(await post(`${db}/d`, form({ name: '_doc', text: '{bad' })), 400, 'bad_request');
  assertRefused(await post(`${db}/d`, form({ name: 'other', text: 'x' })), 400, 'bad_request');
  assertRefused(await post(`${db}/d`, form({ name: '_rev', text: 'nonsense' })), 400, 'bad_request');
  assertRefused(await post(`${db}/d`, form({ name: '_rev', text: '1-abc' })), 404, 'not_found');
  assertRefused(
    await post(`${db}/d`, form({ name: '_doc', text: '{}' }, { name: '_attachments', file: '_x', text: '' })),
    400,
    'bad_request',
  );
  assertRefused(await client.get(`${db}/d`), 404);
});
