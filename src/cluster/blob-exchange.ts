import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { BlobStore } from '../blobs/blob-store.js';
import type { Member, Members } from './members.js';

/** How long another node may take to answer. */
const answerMs = 30_000;
/** How often it is tried to send a blob to enough nodes, and after which time again. */
const spreadTriesMax = 10;
const spreadAgainMs = 500;
/** How long a blob is kept that no document names yet. */
const keepMs = 600_000;

const blobsPath = '/_cluster_blobs/';
export const secretHeader = 'x-tuffet-cluster-secret';

/** Brings the bytes of attachments to where they are needed: they are no part of the streams. */
export class BlobExchange {
  store: BlobStore | undefined;

  constructor(
    private readonly members: Members,
    private readonly options: { secret: string },
    private readonly logger: Logger,
    private readonly runtime: Runtime,
  ) {}

  /** Resolves when a majority of the nodes has the blobs, this one among them. */
  async spread(digests: readonly string[]): Promise<void> {
    // A node that has just started may not have been heard of.
    for (let tries = 0; tries < spreadTriesMax; tries++) {
      if (tries > 0) await this.runtime.sleep(spreadAgainMs);
      const others = this.members.others();
      const sent = await Promise.allSettled(others.map((member) => this.#sendAll(member, digests)));
      const stored = sent.filter(({ status }) => status === 'fulfilled').length;
      if (stored >= Math.floor(this.members.count / 2)) return;
    }
    throw new Unavailable('Too few nodes could store the attachments; nothing was saved.');
  }

  /** Resolves when this node has the blobs, or no node has. */
  async bring(digests: readonly string[]): Promise<void> {
    for (const digest of digests) if (!(await this.store!.has(digest))) await this.#bringOne(digest);
  }

  /** What no node has is of a document that is gone further on in the stream. */
  async #bringOne(digest: string): Promise<void> {
    let missing = 0;
    const others = this.members.others();
    for (const member of others) {
      try {
        if (await this.#fetch(member, digest)) return;
        missing++;
      } catch (error) {
        this.logger.warn({ err: error, node: member.name, digest }, 'an attachment could not be fetched');
      }
    }
    // This node does not have it either.
    if (missing + 1 > this.members.count / 2 && missing === others.length) return;
    throw new Unavailable(`The attachment ${digest} is on no node that can be reached.`);
  }

  async #sendAll(member: Member, digests: readonly string[]): Promise<void> {
    for (const digest of digests) await this.#send(member, digest);
  }

  async #send({ url }: Member, digest: string): Promise<void> {
    const target = new URL(blobsPath + digest, url);
    const headers = { [secretHeader]: this.options.secret };
    const signal = AbortSignal.timeout(answerMs);
    const known = await fetch(target, { method: 'HEAD', headers, signal });
    if (known.status === 200) return;
    const reader = await this.store!.read(digest);
    if (reader === undefined) throw new Error('the attachment is gone');
    const answer = await fetch(target, {
      method: 'PUT',
      headers,
      signal,
      body: ReadableStream.from(reader),
      duplex: 'half',
    } as RequestInit);
    if (answer.status !== 201) throw new Error(`another node answered ${answer.status}`);
  }

  /** Tells whether the other node has it. */
  async #fetch({ url }: Member, digest: string): Promise<boolean> {
    const headers = { [secretHeader]: this.options.secret };
    const answer = await fetch(new URL(blobsPath + digest, url), {
      headers,
      signal: AbortSignal.timeout(answerMs),
    });
    if (answer.status === 404) return false;
    if (answer.status !== 200 || answer.body === null)
      throw new Error(`another node answered ${answer.status}`);
    await this.receive(digest, answer.body as unknown as AsyncIterable<Uint8Array>);
    return true;
  }

  /** Stores a blob that another node has sent. It is kept for a while, until the command that names it is applied. */
  async receive(digest: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    this.#release(await receiveBlob(this.store!, digest, bytes));
  }

  /** Keeps a blob for a while if it is there, and tells whether it is. */
  async keep(digest: string): Promise<boolean> {
    const release = await this.store!.hold(digest);
    const isThere = await this.store!.has(digest);
    if (isThere) this.#release(release);
    else release();
    return isThere;
  }

  #release(release: () => void): void {
    this.runtime.setIdleTimer(release, keepMs);
  }
}

/** Stores a blob that another node sends, and refuses bytes that are not those of the digest. */
async function receiveBlob(
  store: BlobStore,
  digest: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<() => void> {
  const writer = store.begin();
  try {
    for await (const chunk of bytes) await writer.write(Buffer.from(chunk));
    const stored = await writer.finish();
    if (stored.digest === digest) return () => stored.release();
    stored.release();
    await store.remove([stored.digest]);
    throw new Error('the bytes of an attachment do not have its digest');
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
