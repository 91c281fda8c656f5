import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { createLogger } from '../../src/base/logger.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { TimeSlice } from '../../src/base/turns.js';
import { checkStores } from '../../src/node/check-stores.js';
import { DataFolder } from '../../src/node/data-folder.js';
import { currentSums } from '../../src/storage/checksum.js';
import { formatKey, formatRecord } from '../../src/storage/lmdb-format.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { copyOf, documentCount, filledFolder, withServer } from './data-folder.js';

const filled = await filledFolder();

/** A machine on which pages can't be looked at in any limited time, as if the file was very large. */
class SlowRuntime extends SystemRuntime {
  override slice(ms?: number): TimeSlice {
    return new TimeSlice(this, ms === Infinity ? ms : -1);
  }
}

/** Leaves the folder as a server does that was ended by a signal: with the lock of a process that is gone. */
function start(folder: string): Promise<void> {
  const opened = DataFolder.open(folder);
  const lock = path.join(folder, 'lock');
  const text = fs.readFileSync(lock, 'utf8');
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  return checkStores(opened, createLogger({ level: 'none' }), new SlowRuntime()).finally(() => {
    opened.release();
    fs.writeFileSync(lock, text.replace(/^\d+/, String(gone)));
  });
}

/** Damages the page of a leaf, far below what a short look reaches. */
function damageLeaf(file: string): void {
  const bytes = fs.readFileSync(file);
  const at = bytes.lastIndexOf('"n":7,');
  const page = at - (at % 4096);
  bytes.fill(0xff, page, page + 24);
  fs.writeFileSync(file, bytes);
}

test('damaged pages that may have ended the server are found after its second crash', async () => {
  const folder = copyOf(filled);
  damageLeaf(path.join(folder, 'documents/0.1/data.mdb'));
  await start(folder);
  await start(folder);
  await assert.rejects(start(folder), /The volume .* is damaged: .*Restore the data folder from a backup/s);
  await assert.rejects(start(folder), /is damaged/);
});

test('an index store whose upgrade was never completed is built anew', async () => {
  const folder = copyOf(filled);
  const [name] = fs.readdirSync(path.join(folder, 'indexes'));
  const store = new LmdbStore(path.join(folder, 'indexes', name!), undefined, undefined, { asStored: true });
  await store.write([{ key: formatKey, value: formatRecord({ sums: currentSums, next: asBytes('k') }) }])
    .flushed;
  await store.close();
  await withServer(folder, async (client) => {
    const { status, body } = await client.get('/d/_design/v/_view/v');
    assert.equal(status, 200);
    assert.equal(body.rows[0].value, documentCount);
  });
});
