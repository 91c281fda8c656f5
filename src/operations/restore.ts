import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { syncFolder } from '../storage/sync-folder.js';
import { blobsBelow, copyHashed, hashFile } from './copy-files.js';
import { backupsIn, manifestName, readManifest, type Manifest } from './manifest.js';
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
  const backup = chooseBackup(path.resolve(from));
  const manifest = readManifest(backup);
  if (dataDir === undefined) {
    await verify(backup, manifest, (source) => hashFile(source), progress);
    return { backup, manifest };
  }
  const target = path.resolve(dataDir);
  requireEmpty(target);
  const partial = `${target}.restoring`;
  fs.rmSync(partial, { recursive: true, force: true });
  fs.mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    fs.mkdirSync(path.join(partial, 'attachments'), { mode: 0o700 });
    const copy = async (source: string, name: string): Promise<string> => {
      const file = path.join(partial, name);
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      return await copyHashed(source, file, progress);
    };
    await verify(backup, manifest, copy, progress);
    fs.rmSync(target, { recursive: true, force: true });
    fs.renameSync(partial, target);
    await syncFolder(target);
  } catch (error) {
    fs.rmSync(partial, { recursive: true, force: true });
    throw error;
  }
  return { backup, manifest };
}

function chooseBackup(from: string): string {
  if (fs.existsSync(path.join(from, manifestName))) return from;
  const newest = backupsIn(from).at(-1);
  if (newest === undefined) throw new StartupError(`There is no backup in ${from}.`);
  return newest;
}

function requireEmpty(folder: string): void {
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
    throw new StartupError(
      `${folder} is not empty. Name a new folder with --data, or move the old one away.`,
    );
}

type Take = (source: string, name: string) => Promise<string>;

/** Has every file taken, and compares its digest with what it must be. */
async function verify(backup: string, manifest: Manifest, take: Take, progress: Progress): Promise<void> {
  const { files, attachments } = manifest;
  const total = Object.values(files).reduce((sum, { bytes }) => sum + bytes, attachments.bytes);
  progress.begin('backup', total);
  for (const [name, { sha256 }] of Object.entries(files)) {
    if (!isInside(name)) throw new StartupError(`The backup ${backup} names a file outside: ${name}.`);
    await expectDigest(path.join(backup, name), name, sha256, take);
  }
  let count = 0;
  for (const { digest, name } of blobsBelow(path.join(backup, 'attachments'))) {
    count++;
    const inside = path.join('attachments', name);
    // Damage that was there when the backup was made is kept: the server reports such an attachment when it is read.
    const isKnown = manifest.problems.some((problem) => problem.includes(name));
    await expectDigest(path.join(backup, inside), inside, isKnown ? undefined : digest, take);
  }
  if (count < attachments.count)
    throw new StartupError(`The backup ${backup} has ${count} of ${attachments.count} attachments.`);
}

const isInside = (name: string): boolean => !path.isAbsolute(name) && !name.split(/[\\/]/).includes('..');

async function expectDigest(
  file: string,
  name: string,
  digest: string | undefined,
  take: Take,
): Promise<void> {
  let found: string;
  try {
    found = await take(file, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new StartupError(`The backup is incomplete: ${file} is missing.`);
  }
  if (digest !== undefined && found !== digest)
    throw new StartupError(`The backup is damaged: ${file} has changed since it was made.`);
}
