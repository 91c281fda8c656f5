import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { backUp } from '../../src/operations/backup.js';
import { restoreDatabase } from '../../src/operations/restore-database.js';
import * as expected from '../fixtures/contents.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { tuffet } from './cli.js';

const noProgress = { begin: () => {}, advance: () => {} };
const database = expected.databases.attachments;

/** A folder of format 1, in which attachments do not belong to databases. */
function oldFolder(): string {
  const folder = path.join(temporaryFolder(), 'data');
  fs.cpSync(path.resolve('test/fixtures/data-v1'), folder, { recursive: true });
  return folder;
}

async function assertAttachments(dataDir: string): Promise<void> {
  const client = await startServer({ dataDir });
  for (const [id, names] of Object.entries(expected.attached)) {
    const { body } = await client.get(`${expected.docPath(database, id)}?attachments=true`);
    for (const name of names)
      assert.equal(body._attachments[name].data, expected.attachments[name].bytes.toString('base64'), name);
  }
}

test('one database of a folder that is not upgraded yet is not backed up without its attachments', async () => {
  const dataDir = oldFolder();
  const to = temporaryFolder();
  const { code, stderr } = await tuffet('backup', '--data', dataDir, '--to', to, '--db', database);
  assert.equal(code, 1);
  assert.match(stderr, /was written by an earlier version.* Start the server once/);
  assert.deepEqual(fs.readdirSync(to), []);
});

test('one database is restored from a backup of a folder of format 1, with its attachments', async () => {
  const to = temporaryFolder();
  const { folder: from, manifest } = await backUp({ dataDir: oldFolder(), to, progress: noProgress });
  assert.deepEqual(manifest.problems, []);
  const before = fs.readFileSync(path.join(from, 'documents/0.1/data.mdb'));
  const dataDir = path.join(temporaryFolder(), 'restored');
  const { problems } = await restoreDatabase({
    from,
    dataDir,
    database,
    as: database,
    progress: noProgress,
  });
  assert.deepEqual(problems, []);
  assert.ok(fs.readFileSync(path.join(from, 'documents/0.1/data.mdb')).equals(before));
  assert.equal(fs.existsSync(`${dataDir}.restoring`), false);
  await assertAttachments(dataDir);
});
