/**
 * Attachments as PouchDB writes and reads them over HTTP. Replication is left out: it reads `_changes`, which the
 * server doesn't have yet.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import httpAdapter from 'pouchdb-adapter-http';
import PouchDB from 'pouchdb-core';
import { revOf } from '../support/expect.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { fileSize, md5, noise } from './attachment-client.js';

interface Entry {
  content_type: string;
  digest: string;
  revpos: number;
  length?: number;
  stub?: boolean;
  data?: string | Buffer;
}

/** What PouchDB has for attachments. */
interface AttachmentMethods {
  putAttachment(id: string, name: string, rev: string, data: Buffer | string, type: string): Promise<Saved>;
  putAttachment(id: string, name: string, data: Buffer | string, type: string): Promise<Saved>;
  getAttachment(id: string, name: string, options?: { rev: string }): Promise<Buffer>;
  removeAttachment(id: string, name: string, rev: string): Promise<Saved>;
  get(id: string, options?: object): Promise<{ _rev: string; _attachments?: Record<string, Entry> }>;
}

interface Saved {
  id: string;
  rev: string;
}

PouchDB.plugin(httpAdapter);
const client = await startServer({ dataDir: temporaryFolder() });
const pouch = new PouchDB(`${client.urlWithCredentials}/by-pouch`);
const db = pouch as unknown as AttachmentMethods & PouchDB;
const small = noise(300, 1);
const large = noise(fileSize * 3, 2);

/** PouchDB's buffers have a type beside their bytes. */
function assertBytes(found: string | Buffer | undefined, bytes: Buffer): void {
  assert.ok(Buffer.isBuffer(found) && found.equals(bytes));
}

test('putAttachment and getAttachment carry bytes both ways', async () => {
  for (const [name, bytes, type] of [
    ['small.bin', small, 'application/octet-stream'],
    ['large.png', large, 'image/png'],
    ['text.txt', Buffer.from('Grüße '.repeat(5_000)), 'text/plain'],
    ['empty', Buffer.alloc(0), 'image/png'],
    ['dir/ü %.png', small, 'image/png'],
  ] as const) {
    const id = `put-${name}`;
    const saved = await db.putAttachment(id, name, bytes, type);
    assert.match(saved.rev, revOf(1));
    const got = await db.getAttachment(id, name);
    assert.ok(Buffer.isBuffer(got));
    assertBytes(got, bytes);
    assert.equal((got as Buffer & { type?: string }).type, type);
  }
});

test('attachments are added, replaced and read by revision', async () => {
  const first = await db.putAttachment('many', 'a', Buffer.from('one'), 'image/png');
  const second = await db.putAttachment('many', 'b', first.rev, large, 'image/png');
  const third = await db.putAttachment('many', 'a', second.rev, Buffer.from('two'), 'image/png');
  assert.equal((await db.getAttachment('many', 'a')).toString(), 'two');
  assert.equal((await db.getAttachment('many', 'a', { rev: first.rev })).toString(), 'one');
  assertBytes(await db.getAttachment('many', 'b', { rev: third.rev }), large);
  await assert.rejects(db.putAttachment('many', 'a', first.rev, small, 'image/png'), { status: 409 });
});

test('base64 text is decoded on the way', async () => {
  await db.putAttachment('base64', 'f', small.toString('base64'), 'image/png');
  assertBytes(await db.getAttachment('base64', 'f'), small);
});

test('removeAttachment takes one away', async () => {
  const first = await db.putAttachment('removed', 'a', small, 'image/png');
  const second = await db.putAttachment('removed', 'b', first.rev, large, 'image/png');
  const third = await db.removeAttachment('removed', 'a', second.rev);
  assert.match(third.rev, revOf(3));
  assert.deepEqual(Object.keys((await db.get('removed'))._attachments!), ['b']);
  await assert.rejects(db.getAttachment('removed', 'a'), { status: 404 });
  await db.removeAttachment('removed', 'b', third.rev);
  assert.equal((await db.get('removed'))._attachments, undefined);
});

test('documents with attachments in them, as base64 and as buffers', async () => {
  const saved = await db.put({
    _id: 'inline',
    _attachments: {
      'text.txt': { content_type: 'text/plain', data: Buffer.from('hello').toString('base64') },
      'small.bin': { content_type: 'application/octet-stream', data: small },
      'large.png': { content_type: 'image/png', data: large },
    },
  });
  assert.match(saved.rev, revOf(1));
  const stubs = (await db.get('inline'))._attachments!;
  assert.ok(Object.values(stubs).every(({ stub, data }) => stub === true && data === undefined));
  assert.equal(stubs['large.png']!.digest, `md5-${md5(large)}`);
  assert.equal(stubs['large.png']!.length, large.length);
  const asText = (await db.get('inline', { attachments: true }))._attachments!;
  assert.equal(asText['small.bin']!.data, small.toString('base64'));
  const asBytes = (await db.get('inline', { attachments: true, binary: true }))._attachments!;
  assertBytes(asBytes['large.png']!.data, large);
  assertBytes(asBytes['small.bin']!.data, small);
  assert.equal(String(asBytes['text.txt']!.data), 'hello');
});

test('a document that is read and put back keeps its attachments', async () => {
  await db.putAttachment('again', 'f', large, 'image/png');
  const doc = await db.get('again');
  const saved = await db.put({ ...doc, more: true });
  assert.match(saved.rev, revOf(2));
  assertBytes(await db.getAttachment('again', 'f'), large);
  assert.equal((await db.get('again'))._attachments!['f']!.revpos, 1);
});

test('bulkDocs and allDocs have attachments too', async () => {
  const data = small.toString('base64');
  await db.bulkDocs([{ _id: 'bulk', _attachments: { f: { content_type: 'image/png', data } } }]);
  const options = { include_docs: true, attachments: true, key: 'bulk' };
  const { rows } = await db.allDocs(options);
  const { f } = rows[0]!.doc!['_attachments'] as Record<string, Entry>;
  assert.equal(f!.data, data);
});

test('the database goes with all of them', async () => {
  assert.equal((await db.destroy()).ok, true);
});
