import fs from 'node:fs';
import path from 'node:path';
import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { BlobStore } from '../blobs/blob-store.js';
import { StartupError } from '../base/startup-error.js';
import { copyEnd, type CopiedFile } from '../node/copy-stores.js';
import { headersTo, type BlobExchange } from './blob-exchange.js';
import type { Member, Members } from './members.js';

const copyPath = '/_cluster_copy';
/** How long another node may send nothing; it copies a store before it sends it. */
const silenceMs = 600_000;
/** Of the line that describes a file. */
const lineBytesMax = 1_000;
const names = /^(?:catalogue|documents\/\d{1,5})$/;

/** What is brought where that is not all: the databases of a stream. */
interface StreamCopy {
  stream: number;
  /** Ends it. */
  stopping: AbortSignal;
}

/** Brings the stores of one of these nodes into a folder. */
export async function bringCopy(
  others: readonly Member[],
  secret: string,
  folder: string,
  logger: Logger,
  runtime: Runtime,
  part?: StreamCopy,
): Promise<void> {
  for (const member of others) {
    const { name } = member;
    logger.notice({ node: name, stream: part?.stream }, 'copying the databases of another node');
    try {
      fs.rmSync(folder, { recursive: true, force: true });
      await receive(member, secret, folder, runtime, part);
      return;
    } catch (error) {
      part?.stopping.throwIfAborted();
      logger.warn({ err: error, node: name }, 'the databases of a node could not be copied');
    }
  }
  throw new StartupError('The databases could not be copied from any other node.');
}

/** Brings what a node needs that has to replace its stores. */
export class PeerCopies {
  constructor(
    private readonly members: Members,
    private readonly options: { secret: string },
    private readonly blobs: BlobExchange,
    private readonly logger: Logger,
    private readonly runtime: Runtime,
  ) {}

  /** Brings the stores of another node into a folder: of the one that is named, if it is there. */
  async bringStores(folder: string, preferred?: string): Promise<void> {
    this.members.start();
    const others = await this.members.whenServing(preferred);
    await bringCopy(others, this.options.secret, folder, this.logger, this.runtime);
  }

  /** Brings the attachments that stores of another node name. */
  async bringBlobs(store: BlobStore, digests: Iterable<string>): Promise<void> {
    this.blobs.store = store;
    for (const digest of digests) await this.blobs.bring([digest]);
  }
}

async function receive(
  member: Member,
  secret: string,
  folder: string,
  runtime: Runtime,
  part: StreamCopy | undefined,
): Promise<void> {
  const silence = new AbortController();
  const wait = (): Timer =>
    runtime.setTimer(() => silence.abort(new Error('the other node sends nothing')), silenceMs);
  let timer = wait();
  try {
    const headers = headersTo(member, secret);
    const asked = part === undefined ? copyPath : `${copyPath}?stream=${part.stream}`;
    const signal = part === undefined ? silence.signal : AbortSignal.any([silence.signal, part.stopping]);
    const answer = await fetch(new URL(asked, member.url), { headers, signal });
    if (answer.status !== 200 || answer.body === null)
      throw new Error(`another node answered ${answer.status}`);
    const source = new Source(answer.body, () => {
      timer.cancel();
      timer = wait();
    });
    for (let file = await source.describe(); file !== undefined; file = await source.describe())
      await save(path.join(folder, file.name), source.take(file.bytes));
  } finally {
    timer.cancel();
  }
}

/** On disk before it returns. */
async function save(folder: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const handle = await fs.promises.open(path.join(folder, 'data.mdb'), 'wx', 0o600);
  try {
    for await (const chunk of bytes) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What another node sends: see `copy-stores.ts`. */
class Source {
  #rest: Buffer = Buffer.alloc(0);
  readonly #chunks: AsyncIterator<Uint8Array>;

  constructor(
    body: AsyncIterable<Uint8Array>,
    private readonly onChunk: () => void,
  ) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** The next file; undefined behind the last one. */
  async describe(): Promise<CopiedFile | undefined> {
    let end = this.#rest.indexOf('\n');
    while (end < 0) {
      if (this.#rest.length > lineBytesMax) throw new Error('another node sent something else than a copy');
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
      end = this.#rest.indexOf('\n');
    }
    const line = this.#rest.toString('utf8', 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    if (line === copyEnd) return undefined;
    const { name, bytes } = JSON.parse(line) as CopiedFile;
    if (!names.test(name) || !Number.isSafeInteger(bytes)) throw new Error('another node sent unknown files');
    return { name, bytes };
  }

  async *take(count: number): AsyncIterable<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next();
    if (done) throw new Error('another node broke off');
    this.onChunk();
    return Buffer.from(value);
  }
}
