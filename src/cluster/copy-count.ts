import type { Runtime } from '../base/runtime.js';
import type { StreamReplica } from '../log/stream-replica.js';
import type { Members } from './members.js';
import type { NodeMessages } from './node-messages.js';
import type { StreamName } from './stream-sources.js';

/** A node asks how far others have a stream, or tells it. */
interface Told {
  node: string;
  stream: number;
  /** A position means nothing in a stream that was made anew. */
  epoch: string;
  seq: number;
}

interface CopyCountParts {
  options: { node: string; copiesTimeoutMs(): number };
  messages: NodeMessages;
  members: Pick<Members, 'others'>;
  followed: ReadonlyMap<
    StreamName,
    { replica: Pick<StreamReplica, 'seq' | 'place' | 'lost' | 'whenDurable'> }
  >;
  runtime: Runtime;
  hosting: { hostsOf(stream: number): readonly string[] };
}

/** How often nodes that have not answered are asked again. */
const againMs = 500;
const pollMs = 2;
const question = 'copies';
const answersTo = (node: string): string => `${question}.${node}`;

/** Finds out on how many nodes a write is applied, on disk. */
export class CopyCount {
  /** Up to where other nodes have told to have a stream. */
  readonly #known = new Map<number, { epoch: string; seqs: Map<string, number> }>();
  readonly #waiting = new Set<() => void>();

  constructor(private readonly parts: CopyCountParts) {
    const { messages, options } = parts;
    messages.listen(question, (value) => void this.#answer(value as Told).catch(() => undefined));
    messages.listen(answersTo(options.node), (value) => this.#hear(value as Told));
  }

  /**
   * Tells whether so many nodes have all that this one has of a stream now. Where they have not yet, waits as long as enough of them
   * are there, up to a limit.
   */
  async reaches(stream: number, wanted: number): Promise<boolean> {
    const { followed, messages, runtime } = this.parts;
    const { node, copiesTimeoutMs } = this.parts.options;
    const replica = followed.get(stream)?.replica;
    const epoch = replica?.place?.head.epoch;
    if (replica === undefined || epoch === undefined) return false;
    const { seq } = replica;
    const untilMs = runtime.monotonicMs() + copiesTimeoutMs();
    for (let askMs = 0; ;) {
      const hosts = this.#hostsThere(stream);
      const known = this.#seqsOf(stream, epoch);
      const has = (host: string): boolean => host === node || (known.get(host) ?? -1) >= seq;
      if (hosts.filter(has).length >= wanted) return true;
      const now = runtime.monotonicMs();
      if (hosts.length < wanted || now >= untilMs) return false;
      if (now >= askMs) {
        messages.tell(question, { node, stream, epoch, seq } satisfies Told);
        askMs = now + againMs;
      }
      await this.#changed(Math.min(untilMs, askMs) - now);
    }
  }

  #seqsOf(stream: number, epoch: string): Map<string, number> {
    const known = this.#known.get(stream);
    if (known?.epoch === epoch) return known.seqs;
    const seqs = new Map<string, number>();
    this.#known.set(stream, { epoch, seqs });
    return seqs;
  }

  #hostsThere(stream: number): string[] {
    const there = new Set([this.parts.options.node, ...this.parts.members.others().map(({ name }) => name)]);
    return this.parts.hosting.hostsOf(stream).filter((host) => there.has(host));
  }

  /** Resolves when a node has told something, or after that time. */
  #changed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        this.#waiting.delete(end);
        resolve();
      };
      const timer = this.parts.runtime.setTimer(end, ms);
      this.#waiting.add(end);
    });
  }

  #hear({ node, stream, epoch, seq }: Told): void {
    const known = this.#seqsOf(stream, epoch);
    known.set(node, Math.max(seq, known.get(node) ?? 0));
    for (const end of this.#waiting) end();
  }

  /** Answers when this node has what is asked for; not at all where it does not get it in time. */
  async #answer({ node, stream, epoch, seq }: Told): Promise<void> {
    const { messages, followed, runtime, options } = this.parts;
    const replica = followed.get(stream)?.replica;
    if (node === options.node || replica === undefined) return;
    const untilMs = runtime.monotonicMs() + options.copiesTimeoutMs();
    while (replica.seq < seq) {
      const isOver = runtime.monotonicMs() > untilMs || followed.get(stream)?.replica !== replica;
      if (isOver || replica.lost !== undefined) return;
      await runtime.sleep(pollMs);
    }
    const own: Told = { node: options.node, stream, epoch, seq: replica.seq };
    await replica.whenDurable();
    if (replica.place?.head.epoch === epoch) messages.tell(answersTo(node), own);
  }
}
