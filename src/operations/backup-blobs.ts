import { webcrypto } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { blobsBelow, copyDigested, digestFile, forEachAtOnce, link, sizeOf } from './copy-files.js';
import { emptySha256 } from './digest.js';
import type { Progress } from './progress.js';

/** Attachments that are copied at once. */
const blobsAtOnce = 8;
/** An attachment up to this size is read whole, and hashed beside the main thread. */
const wholeBytesMax = 4 * 1024 * 1024;

/**
 * Copies attachments of a data folder into a backup, or back. Those that are there already stay; those that the backup before
 * has are linked.
 */
export class BackupBlobs {
  /** The size of each, by its digest. */
  readonly copied = new Map<string, number>();
  readonly problems: string[] = [];
  readonly #unsynced: string[] = [];
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
      .map((blob) => ({ ...blob, bytes: sizeOf(path.join(source, blob.name)) }));
    this.progress.begin('attachments', sum(missing.map(({ bytes }) => bytes)));
    await forEachAtOnce(missing, blobsAtOnce, (blob) => this.#copy(blob));
    // All after all: the first of them writes the file system's journal for the others too.
    await forEachAtOnce(this.#unsynced.splice(0), blobsAtOnce, syncFile);
  }

  async #copy({ digest, name, bytes }: { digest: string; name: string; bytes: number }): Promise<void> {
    const source = path.join(this.from, 'attachments', name);
    const target = path.join(this.target, 'attachments', name);
    if (this.comparesExisting && sizeOf(target) >= 0) {
      if ((await digestFile(target, 'sha256')) !== digest) await this.#replace(source, target, digest);
      return void this.copied.set(digest, bytes);
    }
    if (sizeOf(target) === bytes) return void this.copied.set(digest, bytes);
    fs.rmSync(target, { force: true });
    fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    const known = this.previous && path.join(this.previous, 'attachments', name);
    if (known !== undefined && sizeOf(known) === bytes && (await link(known, target))) {
      this.sharedBytes += bytes;
      this.progress.advance(bytes);
    } else {
      try {
        if ((await this.#copyBytes(source, target, bytes)) !== digest)
          this.problems.push(`The bytes of the attachment ${source} have changed.`);
      } catch (error) {
        // No document names it any more, or it is missed when the volumes are looked at.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return fs.rmSync(target, { force: true });
      }
    }
    this.copied.set(digest, bytes);
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

  /** Gives the SHA-256 of what was copied. */
  async #copyBytes(source: string, target: string, bytes: number): Promise<string> {
    if (bytes > wholeBytesMax) return await copyDigested(source, target, 'sha256', this.progress);
    const content = await fs.promises.readFile(source);
    const [digest] = await Promise.all([
      webcrypto.subtle.digest('SHA-256', content),
      fs.promises.writeFile(target, content, { flag: 'wx', mode: 0o600 }),
    ]);
    this.#unsynced.push(target);
    this.progress.advance(content.length);
    return Buffer.from(digest).toString('hex');
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
