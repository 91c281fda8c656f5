import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { inspectFolder } from '../node/data-folder.js';
import { syncFolder } from '../storage/sync-folder.js';
import { DatabaseBackup } from './backup-database.js';
import { BackupWork } from './backup-work.js';
import { backupName, backupsOf, manifestName, type Manifest } from './manifest.js';
import type { Progress } from './progress.js';

export interface BackupOptions {
  dataDir: string;
  /** A folder of backups; each is a folder in it. */
  to: string;
  /** How many backups stay; older ones are removed when a new one is complete. */
  keep?: number;
  /** Only this database; all of them, and the configuration, where it is undefined. */
  database?: string;
  progress: Progress;
}

export interface Backup {
  folder: string;
  manifest: Manifest;
  /** Bytes that are shared with the backup before. */
  sharedBytes: number;
  removed: string[];
}

/**
 * Copies a data folder while a server uses it.
 *
 * A volume is copied under one read transaction, so each database is as it was at one moment. Volumes come
 * before the catalogue: what the catalogue's copy knows and a volume's copy does not is a database that was made
 * meanwhile, which is empty in the backup; what a volume's copy still has and the catalogue's does not is a database
 * that was deleted meanwhile, and is noted for erasure. Attachments never change, but may be removed: they are copied
 * before the volumes, and those that came meanwhile afterwards.
 *
 * What the backup before has already is linked and not copied: attachments, and volumes without any commit since.
 */
export async function backUp({ dataDir, to, keep, database, progress }: BackupOptions): Promise<Backup> {
  const from = path.resolve(dataDir);
  checkSource(from);
  fs.mkdirSync(to, { recursive: true, mode: 0o700 });
  const previous = backupsOf(to, database).at(-1);
  const name = freeName(to);
  const partial = path.join(path.resolve(to), `.${name}.partial`);
  fs.mkdirSync(partial, { mode: 0o700 });
  try {
    const work =
      database === undefined
        ? new BackupWork(from, partial, previous, progress)
        : new DatabaseBackup(from, partial, database, previous, progress);
    const manifest = await work.run();
    const folder = path.join(path.resolve(to), name);
    fs.renameSync(partial, folder);
    await syncFolder(folder);
    return { folder, manifest, sharedBytes: work.sharedBytes, removed: prune(backupsOf(to, database), keep) };
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

function checkSource(folder: string): void {
  if (!fs.existsSync(path.join(folder, 'tuffet.json')))
    throw new StartupError(`${folder} is no data folder: it has no tuffet.json.`);
  const { problem } = inspectFolder(folder);
  if (problem !== undefined) throw new StartupError(problem);
}

/** Backups of the same second get numbers. */
function freeName(to: string): string {
  const name = backupName(new Date());
  let free = name;
  for (let n = 2; fs.existsSync(path.join(to, free)); n++) free = `${name}-${n}`;
  return free;
}

function prune(backups: readonly string[], keep: number | undefined): string[] {
  const old = keep === undefined ? [] : backups.slice(0, -keep);
  for (const folder of old) {
    // Without its manifest it is no backup any more, whatever becomes of the rest.
    fs.rmSync(path.join(folder, manifestName));
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return old;
}
