import fs from 'node:fs';
import path from 'node:path';

/** Longer paths of sockets are refused by some systems. */
const socketPathMax = 100;

/** What the processes of a server share: a folder in the data folder, made at each start. */
export class WorkerFolder {
  readonly epochsPath: string;

  constructor(readonly folder: string) {
    this.epochsPath = path.join(folder, 'epochs');
  }

  /** The path of the socket on which the owner of the data folder accepts requests of workers. */
  socketPath(): string {
    const full = path.join(this.folder, 'owner');
    if (full.length <= socketPathMax || process.platform !== 'linux') return full;
    // The same by a shorter name, which is good for this process as long as the folder is open.
    return `/proc/self/fd/${fs.openSync(this.folder, 'r')}/owner`;
  }

  /** Makes the folder anew. To be called by the owner of the data folder only. */
  create(): void {
    this.clear();
    fs.mkdirSync(this.folder, { mode: 0o700 });
  }

  /**
   * Removes what an earlier owner has left. To be called as soon as the data folder has another: a worker of the earlier one
   * may be about to end, and whatever it was allowed is void.
   */
  clear(): void {
    if (fs.existsSync(this.epochsPath)) fs.truncateSync(this.epochsPath);
    this.remove();
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
