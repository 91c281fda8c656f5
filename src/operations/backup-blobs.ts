import fs from 'node:fs';
import path from 'node:path';
import { blobsBelow, copyDigested, digestFile, forEachAtOnce, link, sizeOf } from './copy-files.js';
import { copyInThreads, type CopyFile } from './copy-threads.js';
import { emptySha256 } from './digest.js';
import type { Progress } from './progress.js';

/** Attachments that are looked at, or made to last, at once. */
const blobsAtOnce = 8;

interface Blob extends CopyFile {
  digest: string;
  /** Its path below the folder of attachments. */
  name: string;
}

/**
 * Copies attachments of a data folder into a backup, or back. Those that are there already stay; those that the backup before
 * has are linked.
 */
export class BackupBlobs {
  /** The size of each, by its digest. */
  readonly copied = new Map<string, number>();
  readonly problems: string[] = [];
  sharedBytes = 0;

  constructor(
    private readonly from: string,
    private readonly target: string,
    private readonly previous: string | undefined,
    private readonly progress: Progress,
    /** Whether those that are there already are read, and replaced where their bytes are not what they should be. */
    private readonly comparesExisting = false,
  ) {}

  /** Those that were not copied yet, of all or of some. */
  async copy(wanted: (digest: string) => boolean = () => true): Promise<void> {
    const source = path.join(this.from, 'attachments');
    fs.mkdirSync(path.join(this.target, 'attachments'), { recursive: true, mode: 0o700 });
    const missing = [...blobsBelow(source)]
      .filter(({ digest }) => !this.copied.has(digest) && wanted(digest))
      .map((blob) => this.#placed(blob));
    this.progress.begin('attachments', sum(missing.map(({ bytes }) => bytes)));
    const absent: Blob[] = [];
    await forEachAtOnce(missing, blobsAtOnce, async (blob) => {
      if (await this.#isThere(blob)) this.copied.set(blob.digest, blob.bytes);
      else absent.push(blob);
    });
    await this.#copyAbsent(absent);
  }

  #placed({ digest, name }: { digest: string; name: string }): Blob {
    const [source, target] = [this.from, this.target].map((folder) => path.join(folder, 'attachments', name));
    return { digest, name, source: source!, target: target!, bytes: sizeOf(source!) };
  }

  /** Whether it is at its place already, or was linked there. */
  async #isThere({ digest, name, source, target, bytes }: Blob): Promise<boolean> {
    const there = sizeOf(target);
    if (this.comparesExisting && there >= 0) {
      if ((await digestFile(target, 'sha256')) !== digest) await this.#replace(source, target, digest);
      return true;
    }
    if (there === bytes && bytes >= 0) return true;
    if (there >= 0) fs.rmSync(target);
    else fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    const known = this.previous && path.join(this.previous, 'attachments', name);
    if (known === undefined || sizeOf(known) !== bytes || !(await link(known, target))) return false;
    this.sharedBytes += bytes;
    this.progress.advance(bytes);
    return true;
  }

  async #copyAbsent(blobs: readonly Blob[]): Promise<void> {
    const written: string[] = [];
    await copyInThreads(
      blobs,
      ({ digest, source, target, bytes }, found) => {
        // No document names it any more, or it is missed when the volumes are looked at.
        if (found === undefined) return;
        if (found !== digest) this.problems.push(`The bytes of the attachment ${source} have changed.`);
        this.copied.set(digest, bytes);
        written.push(target);
      },
      (bytes) => this.progress.advance(bytes),
    );
    // All after all: the first of them writes the file system's journal for the others too.
    await forEachAtOnce(written, blobsAtOnce, syncFile);
  }

  /** The file keeps its name and its bytes until all of the new ones are on disk. */
  async #replace(source: string, target: string, digest: string): Promise<void> {
    const part = path.join(this.target, 'attachments', 'tmp', digest);
    fs.mkdirSync(path.dirname(part), { recursive: true, mode: 0o700 });
    fs.rmSync(part, { force: true });
    if ((await copyDigested(source, part, 'sha256', this.progress)) === digest)
      return fs.renameSync(part, target);
    fs.rmSync(part);
    this.problems.push(`The bytes of the attachment ${source} have changed.`);
  }

  /** Only those that documents of the backup name stay; those that are named must be there. */
  settle(named: ReadonlySet<string>): void {
    this.#removeOthers(named);
    this.reportMissing(named);
  }

  #removeOthers(named: ReadonlySet<string>): void {
    for (const digest of this.copied.keys()) {
      if (named.has(digest)) continue;
      fs.rmSync(path.join(this.target, 'attachments', digest.slice(0, 2), digest.slice(2)), { force: true });
      this.copied.delete(digest);
    }
  }

  reportMissing(named: ReadonlySet<string>): void {
    for (const digest of named)
      if (!this.copied.has(digest) && digest !== emptySha256)
        this.problems.push(`The attachment with the SHA-256 ${digest} is missing.`);
  }

  /** What the manifest says of them. */
  get summary(): { count: number; bytes: number } {
    return { count: this.copied.size, bytes: sum(this.copied.values()) };
  }
}

async function syncFile(file: string): Promise<void> {
  const handle = await fs.promises.open(file, 'r+');
  await handle.sync().finally(() => handle.close());
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += Math.max(0, number);
  return total;
}
