import fs from 'node:fs';
import path from 'node:path';
import { packageVersion } from '../base/version.js';
import { BackupBlobs } from './backup-blobs.js';
import { filesOfGroup } from './copy-group.js';
import { describeFile } from './copy-store.js';
import { withDatabase } from './database-source.js';
import { readIdentity } from './identity.js';
import { writeManifest, type FileEntry, type Manifest } from './manifest.js';
import { OfflineFolder, type DatabaseSource } from './offline-folder.js';
import type { Progress } from './progress.js';

/**
 * Fills the folder of a backup of one database: a data folder of its own, with nothing else. Attachments are copied before
 * the records that name them, and those that came meanwhile afterwards.
 */
export class DatabaseBackup {
  readonly #blobs: BackupBlobs;

  constructor(
    private readonly from: string,
    private readonly target: string,
    private readonly database: string,
    previous: string | undefined,
    private readonly progress: Progress,
  ) {
    this.#blobs = new BackupBlobs(from, target, previous, progress);
  }

  /** Bytes that are shared with the backup before. */
  get sharedBytes(): number {
    return this.#blobs.sharedBytes;
  }

  async run(): Promise<Manifest> {
    const { uuid } = readIdentity(this.from);
    const folder = await OfflineFolder.open(this.target);
    await this.#copyInto(folder).finally(() => folder.close());
    return writeManifest(this.target, {
      format: 2,
      version: packageVersion(),
      made_at: new Date().toISOString(),
      uuid,
      database: this.database,
      files: await this.#describe(),
      attachments: this.#blobs.summary,
      problems: this.#blobs.problems,
    });
  }

  async #copyInto(folder: OfflineFolder): Promise<void> {
    const early = await withDatabase(this.from, this.database, (source) => Promise.resolve(filesIn(source)));
    await this.#blobs.copy((digest) => early.has(digest));
    const named = await withDatabase(this.from, this.database, async (source) => {
      await folder.insert(this.database, source, this.progress);
      return filesIn(source);
    });
    await this.#blobs.copy((digest) => named.has(digest));
    this.#blobs.settle(named);
  }

  async #describe(): Promise<Record<string, FileEntry>> {
    const stores = [
      'catalogue',
      ...fs.readdirSync(path.join(this.target, 'documents')).map((name) => path.join('documents', name)),
    ];
    const files: Record<string, FileEntry> = {};
    for (const name of ['tuffet.json', ...stores.map((store) => path.join(store, 'data.mdb'))])
      files[name] = await describeFile(path.join(this.target, name));
    for (const store of stores) fs.rmSync(path.join(this.target, store, 'lock.mdb'), { force: true });
    return files;
  }
}

/** The attachments that a database names and that are kept as files. */
export function filesIn({ groups }: DatabaseSource): Set<string> {
  const named = new Set<string>();
  for (const { group, records } of groups) for (const blob of filesOfGroup(records, group)) named.add(blob);
  return named;
}
