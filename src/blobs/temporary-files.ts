import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/** Tells this process from an earlier one that had the same process id, as every first process of a container has. */
const run = randomBytes(6).toString('hex');
const namePattern = /^(\d+)-([0-9a-f]{12})-\d+$/;
let count = 0;

/** No upload takes as long: past this age a name is not believed, since process ids are used again. */
const temporaryAgeMaxMs = 7 * 24 * 60 * 60_000;

export const temporaryName = (): string => `${process.pid}-${run}-${count++}`;

/** Removes the files that no living process is writing. Gives back how many. */
export async function sweepTemporaries(folder: string): Promise<number> {
  let swept = 0;
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    if (isOurs(name) || (isOfTheLiving(name) && !(await isAged(file)))) continue;
    await rm(file, { force: true });
    swept++;
  }
  return swept;
}

function isOurs(name: string): boolean {
  return name.startsWith(`${process.pid}-${run}-`);
}

function isOfTheLiving(name: string): boolean {
  const pid = Number(namePattern.exec(name)?.[1] ?? process.pid);
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isAged(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > temporaryAgeMaxMs;
}
