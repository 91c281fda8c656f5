import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { syncFolder } from '../storage/sync-folder.js';
import { blobsBelow, copyDigested, digestFile, forEachAtOnce } from './copy-files.js';
import type { DigestName } from './digest.js';
import { beginHistory } from './identity.js';
import {
  backupsOf,
  manifestName,
  readManifest,
  recordedDigest,
  type FileEntry,
  type Manifest,
} from './manifest.js';
import type { Progress } from './progress.js';

export interface RestoreOptions {
  /** A backup, or a folder of backups, of which the newest is taken. */
  from: string;
  /** Must not exist, or be empty. Undefined: the backup is only read and verified. */
  dataDir?: string;
  progress: Progress;
}

/**
 * Makes a data folder of a backup. Every byte is hashed on the way; the folder gets its name when all of it is right
 * and on disk.
 */
export async function restore({
  from,
  dataDir,
  progress,
}: RestoreOptions): Promise<{ backup: string; manifest: Manifest }> {
  const backup = chooseBackup(path.resolve(from), [undefined]);
  const manifest = readManifest(backup);
  if (dataDir === undefined) {
    const advance = (bytes: number): void => progress.advance(bytes);
    await verify(backup, manifest, (source, _, digest) => digestFile(source, digest, advance), progress);
    return { backup, manifest };
  }
  const target = path.resolve(dataDir);
  requireEmpty(target);
  const partial = `${target}.restoring`;
  fs.rmSync(partial, { recursive: true, force: true });
  fs.mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    fs.mkdirSync(path.join(partial, 'attachments'), { mode: 0o700 });
    await verify(backup, manifest, copyInto(partial, progress), progress);
    beginHistory(partial);
    fs.rmSync(target, { recursive: true, force: true });
    fs.renameSync(partial, target);
    await syncFolder(target);
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    throw error;
  }
  return { backup, manifest };
}

/** The backup in a folder, or the newest one below it that is of one of these databases; undefined stands for all. */
export function chooseBackup(from: string, databases: readonly (string | undefined)[]): string {
  if (fs.existsSync(path.join(from, manifestName))) return from;
  const all = databases.flatMap((database) => backupsOf(from, database));
  const newest = all.sort().at(-1);
  if (newest === undefined)
    throw new StartupError(`There is no backup of ${databases.at(-1) ?? 'all databases'} in ${from}.`);
  return newest;
}

function requireEmpty(folder: string): void {
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
    throw new StartupError(
      `${folder} is not empty. Name a new folder with --data, or move the old one away.`,
    );
}

/** Files that are copied at once. */
const filesAtOnce = 4;

type Take = (source: string, name: string, digest: DigestName) => Promise<string>;

/** Copies files into a folder, under their names. */
export const copyInto =
  (folder: string, progress: Progress): Take =>
  async (source, name, digest) => {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    return await copyDigested(source, file, digest, progress);
  };

/** Has every file taken, and compares its digest with what it must be. */
async function verify(backup: string, manifest: Manifest, take: Take, progress: Progress): Promise<void> {
  const { files, attachments } = manifest;
  const total = Object.values(files).reduce((sum, { bytes }) => sum + bytes, attachments.bytes);
  progress.begin('backup', total);
  for (const [name, entry] of Object.entries(files)) {
    if (!isInside(name)) throw new StartupError(`The backup ${backup} names a file outside: ${name}.`);
    await takeFile(backup, name, entry, take);
  }
  const blobs = [...blobsBelow(path.join(backup, 'attachments'))];
  await forEachAtOnce(blobs, filesAtOnce, async ({ digest, name }) => {
    const inside = path.join('attachments', name);
    // Damage that was there when the backup was made is kept: the server reports such an attachment when it is read.
    const isKnown = manifest.problems.some((problem) => problem.includes(name));
    await expectDigest(backup, inside, isKnown ? undefined : digest, (source) =>
      take(source, inside, 'sha256'),
    );
  });
  if (blobs.length < attachments.count)
    throw new StartupError(`The backup ${backup} has ${blobs.length} of ${attachments.count} attachments.`);
}

const isInside = (name: string): boolean => !path.isAbsolute(name) && !name.split(/[\\/]/).includes('..');

/** Has a file of the manifest taken, and compares its digest. */
export async function takeFile(backup: string, name: string, entry: FileEntry, take: Take): Promise<void> {
  const { name: digest, hex } = recordedDigest(entry);
  await expectDigest(backup, name, hex, (source) => take(source, name, digest));
}

async function expectDigest(
  backup: string,
  name: string,
  digest: string | undefined,
  take: (source: string) => Promise<string>,
): Promise<void> {
  const file = path.join(backup, name);
  let found: string;
  try {
    found = await take(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new StartupError(`The backup is incomplete: ${file} is missing.`);
  }
  if (digest !== undefined && found !== digest)
    throw new StartupError(`The backup is damaged: ${file} has changed since it was made.`);
}
