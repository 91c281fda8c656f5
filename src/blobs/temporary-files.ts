import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Runtime } from '../base/runtime.js';

/** Tells this process from an earlier one that had the same process id, as every first process of a container has. */
const ownPrefix = `${process.pid}-${randomBytes(6).toString('hex')}-`;
const namePattern = /^(\d+)-([0-9a-f]{12})-\d+$/;

/** No upload takes as long: past this age a name is not believed, since process ids are used again. */
const temporaryAgeMaxMs = 7 * 24 * 60 * 60_000;

/** The files of a folder that uploads are written to. */
export class TemporaryFiles {
  constructor(
    private readonly folder: string,
    private readonly runtime: Runtime,
  ) {}

  newPath(): string {
    return path.join(this.folder, ownPrefix + this.runtime.randomBytes(6).readUIntBE(0, 6));
  }

  /** Removes the files that no living process is writing. Gives back how many. */
  async sweep(): Promise<number> {
    let swept = 0;
    for (const name of await readdir(this.folder)) {
      const file = path.join(this.folder, name);
      if (name.startsWith(ownPrefix) || (isOfTheLiving(name) && !(await this.#isAged(file)))) continue;
      await rm(file, { force: true });
      swept++;
    }
    return swept;
  }

  async #isAged(file: string): Promise<boolean> {
    const stats = await stat(file).catch(() => undefined);
    return stats !== undefined && this.runtime.now() - stats.mtimeMs > temporaryAgeMaxMs;
  }
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
