import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { isPlainDatabaseName } from '../http/request/make-database.js';
import { inspectFolder, isUpToDate } from '../node/data-folder.js';
import { BackupBlobs } from './backup-blobs.js';
import { filesIn } from './backup-database.js';
import { foldersOf, withDatabase } from './database-source.js';
import { readIdentity } from './identity.js';
import { readManifest, type Manifest } from './manifest.js';
import { OfflineFolder } from './offline-folder.js';
import type { Progress } from './progress.js';
import { chooseBackup, copyInto, takeFile } from './restore.js';

export interface RestoreDatabaseOptions {
  /** A backup, or a folder of them, of which the newest of this database or of all is taken. */
  from: string;
  /** A data folder that no server uses, or that is made. */
  dataDir: string;
  database: string;
  /** The name that it gets. */
  as: string;
  progress: Progress;
}

/**
 * Copies one database of a backup into a data folder. Its stores are copied beside that folder first, and compared with
 * their digests: a backup is never opened itself, which would write to it.
 *
 * The database gets a new id, so that sequences that clients remember of the one it was are not taken for its own.
 */
export async function restoreDatabase(
  options: RestoreDatabaseOptions,
): Promise<{ backup: string; manifest: Manifest; problems: string[] }> {
  const { from, database, as, progress } = options;
  if (as !== database && !isPlainDatabaseName(as))
    throw new StartupError(`"${as}" can't be the name of a database.`);
  const backup = chooseBackup(path.resolve(from), [undefined, database]);
  const manifest = readManifest(backup);
  const dataDir = path.resolve(options.dataDir);
  const target = await OfflineFolder.open(dataDir);
  const copy = `${dataDir}.restoring`;
  try {
    target.requireFree(as);
    fs.rmSync(copy, { recursive: true, force: true });
    await copyStores(backup, manifest, database, copy, progress);
    const blobs = new BackupBlobs(backup, dataDir, undefined, progress, true);
    await withDatabase(copy, database, async ({ settings, groups }) => {
      const named = filesIn({ settings, groups });
      await blobs.copy((digest) => named.has(digest));
      blobs.reportMissing(named);
      const source = { settings: { ...settings, uuid: randomBytes(4).toString('hex') }, groups };
      await target.insert(as, source, progress);
    });
    return { backup, manifest, problems: blobs.problems };
  } finally {
    await target.close();
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

const volumeFile = /^documents[\\/]\d+\.\d+[\\/]data\.mdb$/;

/**
 * The catalogue, and the volumes that it says the database is in. Of a backup of an earlier version, all stores: the copy is
 * upgraded like a data folder, as a whole.
 */
async function copyStores(
  backup: string,
  { files }: Manifest,
  database: string,
  copy: string,
  progress: Progress,
): Promise<void> {
  const into = copyInto(copy, progress);
  const take = async (name: string): Promise<void> => {
    const entry = files[name];
    if (entry === undefined) throw new StartupError(`The backup is incomplete: it has no ${name}.`);
    progress.begin(name, entry.bytes);
    await takeFile(backup, name, entry, into);
  };
  const dataOf = (store: string): string => path.join(store, 'data.mdb');
  await take('tuffet.json');
  const { problem } = inspectFolder(copy);
  if (problem !== undefined) throw new StartupError(problem);
  await take(dataOf('catalogue'));
  if (isUpToDate(readIdentity(copy).format)) {
    for (const store of await foldersOf(copy, database)) await take(dataOf(store));
    return;
  }
  for (const name of Object.keys(files)) if (volumeFile.test(name)) await take(name);
  // Stores without the folder of attachments are taken for damage.
  fs.mkdirSync(path.join(copy, 'attachments'), { mode: 0o700 });
  await (await OfflineFolder.open(copy)).close();
}
