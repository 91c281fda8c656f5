import { Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime, Timer } from '../base/runtime.js';
import type { UserContext } from '../base/user-context.js';
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
/** Which node is meant: an address may lead to another one, or back to the one that asks. */
export const nodeHeader = 'x-tuffet-cluster-node';

/** Up to where a node has applied the catalogue that asks something. */
export const catalogueHeader = 'x-tuffet-cluster-catalogue';

/** The user for whom another node asks something: believed only of one that knows the secret of the cluster. */
export const userHeader = 'x-tuffet-cluster-user';

export const encodeUser = ({ name, roles }: UserContext): string =>
  encodeURIComponent(JSON.stringify({ name, roles }));

export const decodeUser = (text: string): UserContext => JSON.parse(decodeURIComponent(text)) as UserContext;

export const headersTo = ({ name }: Member, secret: string): Record<string, string> => ({
  [secretHeader]: secret,
  [nodeHeader]: name,
});

/** Brings the bytes of attachments to where they are needed: they are no part of the streams. */
export class BlobExchange {
  store: BlobStore | undefined;
  #stopping = new AbortController();

  constructor(
    private readonly members: Members,
    private readonly options: { node: string; secret: string },
    private readonly logger: Logger,
    private readonly runtime: Runtime,
    /** The nodes that have the databases of a stream; all where none is named. */
    private readonly hostsOf: (stream?: number) => readonly string[],
  ) {}

  /** Ends the exchanges of attachments that are under way: they would last for as long as other nodes are silent. */
  stop(): void {
    this.#stopping.abort(new Error('this node stops'));
    this.#stopping = new AbortController();
  }

  /** Resolves when a majority of the hosts of a stream has the blobs. */
  async spread(digests: readonly string[], stream: number): Promise<void> {
    // A node that has just started may not have been heard of.
    for (let tries = 0; tries < spreadTriesMax; tries++) {
      if (tries > 0) await this.runtime.sleep(spreadAgainMs);
      const hosts = this.hostsOf(stream);
      const others = this.members.others().filter(({ name }) => hosts.includes(name));
      const sent = await Promise.allSettled(others.map((member) => this.#sendAll(member, digests)));
      const stored = sent.filter(({ status }) => status === 'fulfilled').length;
      // One that is a host no longer is about to erase them.
      const own = Number(hosts.includes(this.options.node));
      if (stored + own > hosts.length / 2) return;
    }
    throw new Unavailable('Too few nodes could store the attachments; it was not saved.');
  }

  /** Resolves when this node has the blobs, or no node has. */
  async bring(digests: readonly string[], stream?: number): Promise<void> {
    for (const digest of digests)
      if (!(await this.store!.has(digest))) await this.#bringOne(digest, this.hostsOf(stream));
  }

  /** What no node has is of a document that is gone further on in the stream. */
  async #bringOne(digest: string, hosts: readonly string[]): Promise<void> {
    let missing = 0;
    const isHost = ({ name }: Member): number => Number(hosts.includes(name));
    // Others may have been hosts until now.
    const others = this.members.others().sort((one, other) => isHost(other) - isHost(one));
    const { signal } = this.#stopping;
    for (const member of others) {
      try {
        if (await this.#fetch(member, digest, signal)) return;
        missing += isHost(member);
      } catch (error) {
        signal.throwIfAborted();
        this.logger.warn({ err: error, node: member.name, digest }, 'an attachment could not be fetched');
      }
    }
    // This node does not have it either.
    const own = Number(hosts.includes(this.options.node));
    const isAsked = missing === others.filter(isHost).length;
    if (missing + own > hosts.length / 2 && isAsked) return;
    throw new Unavailable(`The attachment ${digest} is on no node that can be reached.`);
  }

  async #sendAll(member: Member, digests: readonly string[]): Promise<void> {
    for (const digest of digests) await this.#send(member, digest);
  }

  async #send(member: Member, digest: string): Promise<void> {
    const target = new URL(blobsPath + digest, member.url);
    const headers = headersTo(member, this.options.secret);
    const known = await fetch(target, { method: 'HEAD', headers, signal: AbortSignal.timeout(answerMs) });
    if (known.status === 200) return;
    if (known.status !== 404) throw new Error(`another node answered ${known.status}`);
    const reader = await this.store!.read(digest);
    if (reader === undefined) throw new Error('the attachment is gone');
    const silence = new Silence(this.runtime, this.#stopping.signal);
    const body = ReadableStream.from(silence.heard(reader));
    const sent = { method: 'PUT', headers, signal: silence.signal, body, duplex: 'half' } as RequestInit;
    const answer = await fetch(target, sent).finally(() => silence.end());
    if (answer.status !== 201) throw new Error(`another node answered ${answer.status}`);
  }

  /** Tells whether the other node has it. */
  async #fetch(member: Member, digest: string, stopping: AbortSignal): Promise<boolean> {
    const silence = new Silence(this.runtime, stopping);
    try {
      return await this.#receiveFrom(member, digest, silence);
    } finally {
      silence.end();
    }
  }

  async #receiveFrom(member: Member, digest: string, silence: Silence): Promise<boolean> {
    const headers = headersTo(member, this.options.secret);
    const { signal } = silence;
    const answer = await fetch(new URL(blobsPath + digest, member.url), { headers, signal });
    if (answer.status === 404) return false;
    if (answer.status !== 200 || answer.body === null)
      throw new Error(`another node answered ${answer.status}`);
    await this.receive(digest, silence.heard(answer.body as unknown as AsyncIterable<Uint8Array>));
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
    throw new Error('the bytes of an attachment do not have its digest');
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Ends an exchange with another node in which nothing has moved for a while, however long it takes as a whole. */
class Silence {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  #timer: Timer;

  constructor(
    private readonly runtime: Runtime,
    stopping: AbortSignal,
  ) {
    this.signal = AbortSignal.any([this.#controller.signal, stopping]);
    this.#timer = this.#wait();
  }

  /** The same chunks, each of which is a sign of life. */
  async *heard<T>(chunks: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const chunk of chunks) {
      this.#timer.cancel();
      this.#timer = this.#wait();
      yield chunk;
    }
  }

  end(): void {
    this.#timer.cancel();
  }

  #wait(): Timer {
    const abort = (): void => this.#controller.abort(new Error('the other node is silent'));
    return this.runtime.setIdleTimer(abort, answerMs);
  }
}
