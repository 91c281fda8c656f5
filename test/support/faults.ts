import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

const shimSource = path.resolve(import.meta.dirname, '../../../test/support/fault-shim.c');

const isLinux = process.platform === 'linux';

/** Why system calls cannot be made to fail here; false where they can. */
export const withoutFaults: string | false = !isLinux
  ? 'faults are injected by LD_PRELOAD, on Linux'
  : spawnSync('cc', ['--version']).status === 0
    ? false
    : 'faults are injected by a library that needs a C compiler (cc)';

/** Why no small disk can be had here; false where it can. */
export const withoutDisk: string | false =
  isLinux && process.getuid?.() === 0 && canMount() ? false : 'a disk of its own (tmpfs) needs root on Linux';

function canMount(): boolean {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-mount-'));
  try {
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status !== 0) return false;
    return spawnSync('umount', [folder]).status === 0;
  } finally {
    fs.rmdirSync(folder);
  }
}

/** Writing to files, writing LMDB's pages, writing its meta pages, syncing: `fault-shim.c` tells more. */
export type FaultKind = 'write' | 'short' | 'meta' | 'sync';

export const errorNumbers = { EIO: 5, ENOSPC: 28, EROFS: 30, EDQUOT: 122 } as const;

/** Makes system calls of a server process fail. */
export class Faults {
  readonly #control: string;
  readonly env: Record<string, string>;

  constructor(t: TestContext) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-faults-'));
    t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
    const library = path.join(folder, 'shim.so');
    execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, shimSource, '-ldl']);
    this.#control = path.join(folder, 'control');
    this.env = { LD_PRELOAD: library, TUFFET_FAULTS: this.#control };
  }

  /** From now on every `every`th such call on files with `part` in their path fails. */
  begin(
    kinds: readonly FaultKind[],
    part: string,
    every = 1,
    error: keyof typeof errorNumbers = 'EIO',
  ): void {
    fs.writeFileSync(`${this.#control}.new`, `${kinds.join(',')} ${errorNumbers[error]} ${every} ${part}\n`);
    fs.renameSync(`${this.#control}.new`, this.#control);
  }

  end(): void {
    fs.rmSync(this.#control, { force: true });
  }

  /** How many calls have failed. */
  get count(): number {
    const log = `${this.#control}.log`;
    return fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').length - 1 : 0;
  }
}

/** A disk of a few megabytes, which can be filled. */
export class SmallDisk {
  readonly folder: string;

  constructor(t: TestContext, megabytes: number) {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', this.folder]);
    t.after(() => {
      execFileSync('umount', ['-l', this.folder]);
      fs.rmdirSync(this.folder);
    });
  }

  /** Takes all the room that is left. */
  fill(): void {
    const file = fs.openSync(path.join(this.folder, 'filler'), 'a');
    for (let bytes = 1024 * 1024; bytes >= 1;) {
      try {
        fs.writeSync(file, Buffer.alloc(bytes));
      } catch {
        bytes = Math.floor(bytes / 16);
      }
    }
    fs.closeSync(file);
  }

  /** Gives it back. */
  free(): void {
    fs.rmSync(path.join(this.folder, 'filler'), { force: true });
  }
}
