import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import type { DigestName } from './digest.js';

/** What a backup says of itself: `backup.json`, written last. A folder without it is no backup, or half of one. */
export interface Manifest {
  /** In format 1, all digests of files are SHA-256. */
  format: 1 | 2;
  /** The version of the program that made it. */
  version: string;
  made_at: string;
  /** The id of the server. */
  uuid: string;
  /** That of the data folder, which each restore changes; absent where it was never restored. */
  history?: string;
  /** The one database that it has; absent for all of them, with the configuration. */
  database?: string;
  /** All files but attachments, by their paths. */
  files: Record<string, FileEntry>;
  /** Files named by their SHA-256. */
  attachments: { count: number; bytes: number };
  /** What could not be backed up as it should be: damaged or missing attachments. */
  problems: string[];
}

/** One of the digests is there. */
export interface FileEntry {
  bytes: number;
  gmac?: string;
  sha256?: string;
  /** Of a volume: the folder it was copied from and its last transaction before that. */
  source?: { folder: string; transaction: number };
}

export const manifestName = 'backup.json';

export function writeManifest(folder: string, manifest: Manifest): Manifest {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  fs.writeFileSync(path.join(folder, manifestName), text, { mode: 0o600, flush: true });
  return manifest;
}

export function readManifest(folder: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(folder, manifestName), 'utf8')) as Manifest;
  } catch (error) {
    throw new StartupError(
      `${folder} holds no complete backup: ${manifestName} can't be read (${(error as Error).message}).`,
    );
  }
  if (![1, 2].includes(manifest.format) || typeof manifest.files !== 'object')
    throw new StartupError(`The backup ${folder} was made by a newer version, or is damaged.`);
  return manifest;
}

/** The digest that a file was recorded with. */
export function recordedDigest({ gmac, sha256 }: FileEntry): { name: DigestName; hex: string } {
  return gmac === undefined ? { name: 'sha256', hex: sha256 ?? '' } : { name: 'gmac', hex: gmac };
}

const namePattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?Z(?:-\d+)?$/;

/** The complete backups in a folder, the oldest first. */
function backupsIn(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => namePattern.test(name) && fs.existsSync(path.join(folder, name, manifestName)))
    .sort()
    .map((name) => path.join(folder, name));
}

/** Those of one database, or of all of them where `database` is undefined; without any that can't be read. */
export function backupsOf(folder: string, database: string | undefined): string[] {
  return backupsIn(folder).filter((each) => {
    try {
      return readManifest(each).database === database;
    } catch {
      return false;
    }
  });
}

/** A name by which backups sort in the order of time. */
export const backupName = (time: Date): string => time.toISOString().replaceAll(':', '-');
