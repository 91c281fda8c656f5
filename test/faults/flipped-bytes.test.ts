import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { assertOk } from '../support/expect.js';
import type { Answer, HttpClient } from '../support/http-client.js';
import { copyOf, documentCount, filledFolder, withServer } from './data-folder.js';

/** Bytes that change on the disk behind the server's back: an error that names the document, never a wrong answer. */
const filled = await filledFolder();
await withServer(filled, async (client) => {
  assertOk(await client.put('/d/inline', { mark: 'standing in its record' }), 201);
  assertOk(await client.put('/d/apart', { mark: `standing apart${' and long'.repeat(500)}` }), 201);
  assertOk(await client.get('/d/_design/v/_view/v'), 200);
});

/** Changes a letter of `text` wherever it stands in a file. */
function flip(file: string, text: string): void {
  const bytes = fs.readFileSync(file);
  let at = bytes.indexOf(text);
  assert.ok(at >= 0, `${text} is not in ${file}`);
  for (; at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at + 3]! ^= 1;
  fs.writeFileSync(file, bytes);
}

function assertNames({ status, body, text }: Answer, id: string): void {
  assert.equal(status, 500, text);
  assert.equal(body.error, 'damaged_record');
  assert.match(body.reason as string, new RegExp(`\\b${id}\\b`));
}

for (const [id, text] of Object.entries({ inline: 'standing in', apart: 'standing apart' })) {
  test(`a letter of a document that has changed (${id}) is an error that names it`, async () => {
    const folder = copyOf(filled);
    flip(path.join(folder, 'documents/0.1/data.mdb'), text);
    await withServer(folder, async (client) => {
      assertNames(await client.get(`/d/${id}`), id);
      assertNames(await client.get(`/d/_all_docs?include_docs=true&startkey="${id}"&limit=1`), id);
      assertNames(await client.post('/d/_find', { selector: { mark: { $gt: null } } }), id);
      const map = 'function (doc) { emit(doc.mark) }';
      assertOk(await client.put('/d/_design/other', { views: { marks: { map } } }), 201);
      assertNames(await client.get('/d/_design/other/_view/marks'), id);
      assert.equal((await client.get('/d/doc7')).body.n, 7);
      assertOk(await client.put('/d/new', {}), 201);
      assert.equal((await client.get('/d/_changes')).status, 200);
    });
  });
}

async function untilBuilt(client: HttpClient): Promise<Answer> {
  for (const giveUp = Date.now() + 30_000; ; await setTimeout(20)) {
    const answer = await client.get('/d/_design/v/_view/v?reduce=false');
    if (answer.status === 200) return answer;
    assert.equal(answer.status, 503, answer.text);
    assert.ok(Date.now() < giveUp, 'the index is not built anew');
  }
}

test('an index with a changed byte is built anew', async () => {
  const folder = copyOf(filled);
  // The ids of documents stand in the leaves of the tree, and in the keys of their rows.
  flip(path.join(folder, 'indexes/1/data.mdb'), 'doc123');
  await withServer(folder, async (client) => {
    const { body } = await untilBuilt(client);
    const ids = body.rows.map(({ id }: { id: string }) => id);
    assert.deepEqual(
      ids,
      Array.from({ length: documentCount }, (_, n) => `doc${n}`),
    );
  });
});

test('a database whose entry in the catalogue has changed is an error, and the others are served', async () => {
  const folder = copyOf(filled);
  await withServer(folder, async (client) => {
    assertOk(await client.put('/e'), 201);
    assertOk(await client.put('/e/_security', { members: { names: ['somebody'] } }), 200);
  });
  flip(path.join(folder, 'catalogue/data.mdb'), 'somebody');
  await withServer(folder, async (client) => {
    const { status, body } = await client.get('/e');
    assert.equal(status, 500);
    assert.equal(body.error, 'damaged_record');
    assert.equal((await client.get('/d/doc7')).body.n, 7);
  });
});
