import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { examine } from '../../src/main/doctor/doctor.js';
import { copyOf, documentCount, filledFolder, listing, withServer } from './data-folder.js';

/** What LMDB would end the process for, by SIGBUS or SIGSEGV, is found before a store is opened. */
const filled = await filledFolder();
const stores = { catalogue: 'catalogue/data.mdb', volume: 'documents/0.1/data.mdb' };
const pageBytes = 4096;

/** Changes bytes of a file in place. */
function change(file: string, work: (bytes: Buffer) => void): void {
  const bytes = fs.readFileSync(file);
  work(bytes);
  fs.writeFileSync(file, bytes);
}

/** The pages of a kind: 1 are branches of a tree, 2 leaves, 4 the beginning of a large value. */
function pagesOf(bytes: Buffer, kind: number): number[] {
  const pages = [];
  for (let at = 2 * pageBytes; at < bytes.length; at += pageBytes) {
    const isPage = bytes.readUInt32LE(at) === at / pageBytes;
    if (isPage && (bytes.readUInt16LE(at + 18) & 0x7f) === kind) pages.push(at);
  }
  return pages;
}

const damages: Record<string, (file: string) => void> = {
  'cut in half': (file) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2)),
  'cut after its head': (file) => fs.truncateSync(file, 2 * pageBytes),
  'cut within its head': (file) => fs.truncateSync(file, 100),
  'zero at its head': (file) => change(file, (bytes) => bytes.fill(0, 0, 2 * pageBytes)),
  'zero in its second page': (file) => change(file, (bytes) => bytes.fill(0, pageBytes, 2 * pageBytes)),
  'noise at its head': (file) => change(file, (bytes) => bytes.fill('noise', 0, 2 * pageBytes)),
  'noise everywhere': (file) => change(file, (bytes) => bytes.fill('noise')),
  'a root beyond its end': (file) =>
    change(file, (bytes) => {
      for (const page of [0, pageBytes]) bytes.writeUInt32LE(1_000_000, page + 96 + 40);
    }),
  'noise in its leaves': (file) =>
    change(file, (bytes) => pagesOf(bytes, 2).forEach((at) => bytes.fill('noise', at + 16, at + 200))),
  'nodes outside of their page': (file) =>
    change(file, (bytes) => pagesOf(bytes, 2).forEach((at) => bytes.writeUInt16LE(0xfff0, at + 24))),
};

for (const [kind, name] of Object.entries(stores)) {
  for (const [damage, inflict] of Object.entries(damages)) {
    test(`a ${kind} with the damage "${damage}" stops the start with a message`, async () => {
      const folder = copyOf(filled);
      inflict(path.join(folder, name));
      const before = listing(folder);
      await assert.rejects(
        withServer(folder, () => Promise.resolve()),
        (error: Error) => {
          assert.equal(error.name, 'StartupError', String(error.stack));
          assert.ok(error.message.includes(path.join(folder, name)), error.message);
          assert.match(error.message, /is (damaged|cut short)[^]*backup/);
          return true;
        },
      );
      assert.deepEqual(listing(folder), before);
    });
  }
}

for (const [kind, name] of Object.entries(stores)) {
  test(`a ${kind} starts from its later head page, whatever the earlier one says of its trees`, async () => {
    const folder = copyOf(filled);
    change(path.join(folder, name), (bytes) => {
      const [first, second] = [0, pageBytes].map((page) => bytes.readBigUInt64LE(page + 152)) as [
        bigint,
        bigint,
      ];
      const earlier = first < second ? 0 : pageBytes;
      for (const tree of [48, 96]) bytes.writeUInt32LE(1_000_000, earlier + tree + 40);
    });
    const { status, body } = await withServer(folder, (client) => client.get('/d/_all_docs'));
    assert.deepEqual([status, body.rows.length], [200, documentCount + 2]);
  });
}

test('branches of a tree that lead nowhere stop the start', async () => {
  const folder = copyOf(filled);
  const file = path.join(folder, stores.volume);
  change(file, (bytes) => {
    const branches = pagesOf(bytes, 1);
    assert.ok(branches.length > 0);
    for (const at of branches) bytes.writeUInt32LE(0x7fffffff, at + 24 + bytes.readUInt16LE(at + 24));
  });
  await assert.rejects(
    withServer(folder, () => Promise.resolve()),
    /is damaged[^]*backup/,
  );
});

test('the doctor finds damaged pages, and none in a folder that is whole', () => {
  const found = (folder: string) =>
    examine({ dataDir: folder }).filter(({ message }) => /damaged|cut short|missing/.test(message));
  assert.deepEqual(found(filled), []);
  const folder = copyOf(filled);
  for (const name of [...Object.values(stores), 'indexes/1/data.mdb'])
    damages['noise in its leaves']!(path.join(folder, name));
  assert.equal(found(folder).length, 3);
});
