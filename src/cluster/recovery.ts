import { asBytes } from '../base/bytes.js';
import { badRequest, notFound, RequestError, Unavailable } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Runtime } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import { CopyNeeded, isMadeAnewSince, NodeNameTaken, type StreamInfo } from '../log/stream.js';
import { headersTo } from './blob-exchange.js';
import type { Member, Members } from './members.js';
import type { Followed } from './status.js';
import type { StreamName, StreamSources } from './stream-sources.js';
import {
  chooseSource,
  claimsOf,
  hex,
  losesOf,
  type NodeClaim,
  type StreamClaim,
  type StreamClaims,
} from './stream-claims.js';

const placesPath = '/_cluster_places';
const recoverPath = '/_cluster_recover';
/** How long another node may take to tell where it is, and to make streams anew. */
const answerMs = 5_000;
const recoverMs = 60_000;
/** How long the source may take to read what was written until the stream was sealed. */
const readMs = 30_000;
const pollMs = 20;

/** What `GET /_cluster/recover` shows. */
export interface RecoveryReport {
  /** The damaged ones. */
  streams: DamagedStream[];
  /** Nodes that do not answer: what only they have is lost. */
  silent: string[];
  /** Nodes that are copying what others have after a stream was made anew, or are opening their stores again. */
  copying: string[];
}

interface DamagedStream {
  stream: string;
  /** Whose history the stream goes on from. */
  source: string;
  nodes: (StreamClaim & { node: string; loses: string })[];
}

interface RecoveryParts {
  followed: ReadonlyMap<StreamName, Followed>;
  members: Pick<Members, 'others' | 'whenHeard' | 'names'>;
  sources: StreamSources;
  /** Which nodes follow which streams. */
  hosting: { isConcerned(stream: StreamName, node: string): boolean };
  options: { node: string; secret: string };
  runtime: Runtime;
  logger: Logger;
  /** Opens the stores of this node again, from where the streams are now. */
  rejoin(): void;
}

/** Streams to make anew, with the epochs that they have for the source: one that it has left was made anew meanwhile. */
export type RecoveryOrder = Record<string, string>;

/**
 * Makes streams anew that were damaged: restored from a backup, created anew, without their last messages. What is left of the
 * stream is sealed first, so that no node acknowledges a write that is in no history. The replica with the longest one is the
 * source. It reads to the end if it can, halts, and creates the stream again with a description that names its history: that is
 * the one step which decides. Every node that looks at the stream then sees whether it has that very history, and continues, or
 * has to copy it. So whatever is interrupted can be done again.
 */
export class Recovery {
  #underWay: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RecoveryParts) {}

  /** Where this node is in its streams. */
  claims(): StreamClaims {
    const claims = [...this.parts.followed].flatMap(([name, { replica }]) => {
      const { place, lost } = replica;
      if (place === undefined || lost instanceof NodeNameTaken) return [];
      const { epoch, seq, hash } = place.reach;
      const problem = lost === undefined || lost instanceof CopyNeeded ? null : lost.message;
      const claim = {
        epoch,
        seq,
        hash: hex(hash),
        is_whole: place.isWhole,
        follows: lost === undefined,
        problem,
      };
      return [[String(name), claim] as const];
    });
    return Object.fromEntries(claims);
  }

  /** The hashes behind messages, as far as this node knows them; empty texts otherwise. */
  hashesAt(wanted: Readonly<Record<string, readonly number[]>>): Record<string, string[]> {
    const found = Object.entries(wanted).map(([stream, seqs]) => {
      const followed = this.#find(stream);
      return [stream, seqs.map((seq) => hex(followed?.replica.history.at(seq) ?? asBytes('')))] as const;
    });
    return Object.fromEntries(found);
  }

  /** Whether a stream that this node has given up was made anew, so that the node can go on. */
  async isRecovered(): Promise<boolean> {
    for (const { stream, replica } of this.parts.followed.values()) {
      const { lost, place } = replica;
      if (lost === undefined || lost instanceof CopyNeeded || lost instanceof NodeNameTaken) continue;
      const info = await stream.infoIfThere().catch(() => undefined);
      if (isMadeAnewSince(place?.head.epoch ?? '', info)) return true;
    }
    return false;
  }

  /** What is damaged, and what making it anew would lose. `from` names a source other than the longest history. */
  async report(from?: string): Promise<RecoveryReport> {
    const { sources } = this.parts;
    const others = await this.parts.members.whenHeard();
    const asked = await Promise.all(
      others.map(async (member) => [member.name, await this.#ask(member)] as const),
    );
    const told = new Map<string, StreamClaims>([[this.parts.options.node, this.claims()]]);
    for (const [name, claims] of asked) if (claims !== undefined) told.set(name, claims);
    if (from !== undefined && !told.has(from)) throw notFound(`The node ${from} does not answer.`);
    const streams: DamagedStream[] = [];
    // A node that opens its stores again follows some streams, or none, or does not answer for a while.
    const opening = [...told].filter(([node, claims]) => !this.#hasAll(node, Object.keys(claims)));
    const copying = new Set(opening.map(([name]) => name));
    for (const name of sources.names) {
      const info = await answered(sources.get(name).infoIfThere());
      if (info?.recovered !== undefined)
        for (const { name: other } of others) if (!told.has(other)) copying.add(other);
      const claims = claimsOf(String(name), told);
      const current = claims.filter(({ epoch }) => !isMadeAnewSince(epoch, info));
      for (const { node } of claims) if (!current.some((each) => each.node === node)) copying.add(node);
      const isSound = info?.isSealed !== true && current.every(({ problem }) => problem === null);
      if (current.length === 0 || isSound) continue;
      const source = chooseSource(current, from, info);
      if (source === undefined) throw notFound(`The node ${from} has nothing of the stream ${name}.`);
      streams.push(await this.#describe(String(name), source, current, others));
    }
    const silent = this.parts.members.names().known.filter((name) => !told.has(name));
    return { streams, silent, copying: [...copying].sort() };
  }

  /** Makes all damaged streams anew; the nodes rejoin by themselves then. */
  async recover(from?: string): Promise<RecoveryReport> {
    if (!this.#hasAll(this.parts.options.node, [...this.parts.followed.keys()].map(String)))
      throw new Unavailable('This node is opening its stores; ask it again, or another node.');
    const found = await this.report(from);
    if (found.streams.length === 0) throw badRequest('No stream is damaged: there is nothing to recover.');
    for (const { stream, source, nodes } of found.streams) {
      const { epoch } = nodes.find(({ node }) => node === source)!;
      await answered(this.parts.sources.get(streamName(stream)).seal(epoch));
    }
    // Nodes that were not at fault may have written until now.
    const report = await this.report(from);
    const bySource = new Map<string, RecoveryOrder>();
    for (const { stream, source, nodes } of report.streams) {
      const { epoch } = nodes.find(({ node }) => node === source)!;
      bySource.set(source, { ...bySource.get(source), [stream]: epoch });
    }
    for (const [source, streams] of bySource) {
      this.parts.logger.warn({ source, streams }, 'streams are made anew from what a node has');
      if (source === this.parts.options.node) await this.recoverHere(streams);
      else await this.#tell(source, streams);
    }
    return report;
  }

  /** Makes streams anew from what this node has. Of several who ask at once, one does it, and the others find it done. */
  async recoverHere(streams: RecoveryOrder): Promise<void> {
    const done = this.#underWay.then(async () => {
      for (const [name, epoch] of Object.entries(streams)) await this.#recoverOne(name, epoch);
      this.parts.rejoin();
    });
    this.#underWay = done.catch(() => undefined);
    await done;
  }

  async #recoverOne(name: string, expected: string): Promise<void> {
    const { stream, replica } = this.#find(name) ?? {};
    if (stream === undefined || replica === undefined) throw notFound(`There is no stream ${name}.`);
    if (replica.place?.reach.epoch !== expected) return;
    const info = await answered(stream.seal(expected));
    if (isMadeAnewSince(expected, info)) return;
    await this.#readToEnd(name, replica, info);
    const head = await replica.halt('it is made anew from what this node has');
    if (head === undefined) throw badRequest(`This node has nothing of the stream ${name}.`);
    const { epoch, seq, hash } = head;
    const isFromHere = await answered(stream.recover({ node: this.parts.options.node, epoch, seq, hash }));
    if (!isFromHere) return;
    this.parts.logger.warn(
      { stream: stream.name, seq, hash: hex(hash) },
      'a stream was made anew from what this node has',
    );
  }

  /** Other nodes may have acknowledged what is in a sealed stream that this node still follows. */
  async #readToEnd(name: string, replica: StreamReplica, info: StreamInfo | undefined): Promise<void> {
    if (info === undefined || replica.lost !== undefined || replica.place?.head.epoch !== info.epoch) return;
    const { runtime } = this.parts;
    const until = runtime.monotonicMs() + readMs;
    while (replica.seq < info.last) {
      if (replica.lost !== undefined || runtime.monotonicMs() > until)
        throw new Unavailable(
          `This node cannot read the stream ${name} to its end, message ${info.last}. Look at it again, or name another node.`,
        );
      await runtime.sleep(pollMs);
    }
  }

  #find(name: string): Followed | undefined {
    return this.parts.followed.get(streamName(name));
  }

  /** Whether a node follows all that it is to follow, as far as it has told. */
  #hasAll(node: string, followed: readonly string[]): boolean {
    const { sources, hosting } = this.parts;
    return sources.names.every((name) => followed.includes(String(name)) || !hosting.isConcerned(name, node));
  }

  async #ask(member: Member): Promise<StreamClaims | undefined> {
    return (await this.#exchange(member, placesPath, {}, answerMs).catch(() => undefined)) as
      StreamClaims | undefined;
  }

  async #tell(node: string, streams: RecoveryOrder): Promise<void> {
    const member = this.parts.members.others().find(({ name }) => name === node);
    if (member === undefined) throw notFound(`The node ${node} does not answer.`);
    await this.#exchange(member, recoverPath, { streams }, recoverMs);
  }

  async #exchange(member: Member, path: string, body: object, timeoutMs: number): Promise<unknown> {
    const answer = await fetch(new URL(path, member.url), {
      method: 'POST',
      headers: { ...headersTo(member, this.parts.options.secret), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await answer.text();
    if (answer.status !== 200)
      throw new RequestError(
        'service_unavailable',
        `The node ${member.name} answered ${answer.status}: ${text.slice(0, 300)}`,
      );
    return JSON.parse(text);
  }

  async #describe(
    stream: string,
    source: NodeClaim,
    claims: readonly NodeClaim[],
    others: readonly Member[],
  ): Promise<DamagedStream> {
    const seqs = claims.map(({ seq }) => seq);
    const member = others.find(({ name }) => name === source.node);
    const hashes =
      member === undefined
        ? this.hashesAt({ [stream]: seqs })
        : ((await this.#exchange(member, placesPath, { at: { [stream]: seqs } }, answerMs).catch(
            () => ({}),
          )) as Record<string, string[]>);
    const nodes = claims.map((claim, at) => ({
      ...claim,
      loses: losesOf(claim, source, hashes[stream]?.[at] ?? ''),
    }));
    return { stream, source: source.node, nodes };
  }
}

const streamName = (text: string): StreamName => (text === 'catalogue' ? text : Number(text));

/** What the NATS servers say; where they do not, nothing is known, least of all that a stream is gone. */
const answered = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error: unknown) => {
    throw new Unavailable(`The NATS servers do not answer as they should: ${(error as Error).message}.`);
  });
