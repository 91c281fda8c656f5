import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';

/** What a backup says of itself: `backup.json`, written last. A folder without it is no backup, or half of one. */
export interface Manifest {
  format: 1;
  /** The version of the program that made it. */
  version: string;
  made_at: string;
  /** The id of the server. */
  uuid: string;
  /** All files but attachments, by their paths. */
  files: Record<string, FileEntry>;
  /** Files named by their SHA-256. */
  attachments: { count: number; bytes: number };
  /** What could not be backed up as it should be: damaged or missing attachments. */
  problems: string[];
}

export interface FileEntry {
  bytes: number;
  sha256: string;
  /** Of a volume: the folder it was copied from and its last transaction before that. */
  source?: { folder: string; transaction: number };
}

export const manifestName = 'backup.json';

export function readManifest(folder: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(fs.readFileSync(path.join(folder, manifestName), 'utf8')) as Manifest;
  } catch (error) {
    throw new StartupError(
      `${folder} holds no complete backup: ${manifestName} can't be read (${(error as Error).message}).`,
    );
  }
  if (manifest.format !== 1 || typeof manifest.files !== 'object')
    throw new StartupError(`The backup ${folder} was made by a newer version, or is damaged.`);
  return manifest;
}

const namePattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?Z(?:-\d+)?$/;

/** The complete backups in a folder, the oldest first. */
export function backupsIn(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => namePattern.test(name) && fs.existsSync(path.join(folder, name, manifestName)))
    .sort()
    .map((name) => path.join(folder, name));
}

/** A name by which backups sort in the order of time. */
export const backupName = (time: Date): string => time.toISOString().replaceAll(':', '-');
