import type { Runtime, Timer } from '../base/runtime.js';
import { StartupError } from '../base/startup-error.js';
import type { NodeMessages } from './node-messages.js';

/** How often nodes tell each other that they are there, and after which silence one counts as gone. */
const beatMs = 1_000;
const goneMs = 4_000;
/** After this time all nodes that are there have been heard of, also where this one or its connection is new. */
const heardMs = 2_500;
const pollMs = 50;
/** How long a node that has to copy the databases of another one waits for one. */
const servingMs = 30_000;

export interface Member {
  name: string;
  /** Where it is reached. */
  url: string;
  /** The last message of each stream, by its name, that it has on disk; absent for streams that it does not follow now. */
  positions: Readonly<Record<string, number>>;
  /** The streams that it serves, of those that not all nodes host. */
  serves: readonly number[];
  /** Whether it is about to be stopped, and takes over nothing. */
  is_drained: boolean;
  /** Why it should not be asked; null where there is no reason. */
  problem: string | null;
}

/** What nodes tell each other. */
interface Beat extends Member {
  /** Whether it has just begun to listen, and is to be told of the others without waiting for their next message. */
  asks_others: boolean;
}

/** What this node says of itself. */
export type OwnState = Omit<Member, 'name' | 'url' | 'problem'> & { problem: string | undefined };

/** Of what a node says of itself. */
const problemCharsMax = 300;
const problemsMax = 10;

/**
 * The nodes of the cluster. Which there are is known from the stream of the catalogue, to which each has sent something; which
 * are there now, from what they tell of themselves every second, by messages that are not stored.
 */
export class Members {
  readonly #seen = new Map<string, Member & { atMs: number }>();
  readonly #startedMs: number;
  #timer: Timer | undefined;
  #end: (() => void) | undefined;

  constructor(
    private readonly messages: NodeMessages,
    private readonly options: { node: string; advertise: string },
    private readonly runtime: Runtime,
    /** Of this node. */
    private readonly own: () => OwnState,
    /** The names of the nodes that have ever sent something to the stream of the catalogue. */
    private readonly senders: () => readonly string[],
  ) {
    this.#startedMs = runtime.monotonicMs();
  }

  /** The names of nodes that do not count any more. */
  removed: () => ReadonlySet<string> = () => new Set();

  start(): void {
    if (this.#timer !== undefined) return;
    this.#end = this.messages.listen('nodes', (beat) => this.#hear(beat as Partial<Beat>));
    this.#timer = this.runtime.setIdleRepeating(() => this.beat(), beatMs);
    this.beat(true);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#end?.();
  }

  names(): { all: string[]; known: string[] } {
    const now = [this.options.node, ...this.others().map(({ name }) => name)];
    return { all: now.sort(), known: [...this.#known()].sort() };
  }

  /** The other nodes that are there now. */
  others(): Member[] {
    const now = this.runtime.monotonicMs();
    return [...this.#seen.values()].filter(({ atMs, url }) => now - atMs < goneMs && url !== '');
  }

  /** What keeps others that are there from being asked, by their names. */
  problems(): Record<string, string> {
    const found = this.others().flatMap(({ name, problem }) => (problem === null ? [] : [[name, problem]]));
    return Object.fromEntries(found.slice(0, problemsMax)) as Record<string, string>;
  }

  /** The other nodes that are there: as soon as those that count are heard of, or all that are there must have been. */
  async whenHeard(counts: (node: string) => boolean = () => true): Promise<Member[]> {
    const isHeard = (): boolean => {
      const { all, known } = this.names();
      return known.every((name) => all.includes(name) || !counts(name));
    };
    const until = this.runtime.monotonicMs() + heardMs;
    while (!isHeard() && this.runtime.monotonicMs() < until) await this.runtime.sleep(pollMs);
    return this.others();
  }

  /**
   * Other nodes that follow the catalogue, as soon as one is heard of. The one that is preferred comes first, and is waited for;
   * it may follow no stream.
   */
  async whenServing(preferred?: string): Promise<Member[]> {
    for (let waitedMs = 0; waitedMs < servingMs; waitedMs += beatMs) {
      const others = this.others();
      const first = others.filter(({ name }) => name === preferred);
      const serving = others.filter(
        ({ name, positions }) => name !== preferred && positions['catalogue'] !== undefined,
      );
      const isLast = waitedMs + beatMs >= servingMs;
      if (first.length > 0 || (serving.length > 0 && (preferred === undefined || isLast)))
        return [...first, ...serving];
      await this.runtime.sleep(beatMs);
    }
    throw new StartupError(
      'The streams of the cluster have been trimmed, so this node has to copy the databases of another one; but none is there.',
    );
  }

  /**
   * Up to which message of a stream all other nodes have it; undefined where one has not told. Nodes of which nothing was heard
   * for so long don't count, nor those that the stream does not concern.
   */
  storedByAll(stream: string, absentMs: number, isConcerned: (node: string) => boolean): number | undefined {
    const since = this.runtime.monotonicMs() - absentMs;
    let lowest = Infinity;
    for (const name of this.#known()) {
      const seen = this.#seen.get(name);
      if (!isConcerned(name)) continue;
      if (name === this.options.node || (seen?.atMs ?? this.#startedMs) < since) continue;
      const position = seen?.positions[stream];
      if (position === undefined) return undefined;
      lowest = Math.min(lowest, position);
    }
    return lowest;
  }

  /** All nodes that count, and when the others were last heard of. */
  list(): (Partial<Member> & { name: string; is_there: boolean; silent_ms: number | null })[] {
    const now = this.runtime.monotonicMs();
    return [...this.#known()].sort().map((name) => {
      if (name === this.options.node)
        return {
          name,
          url: this.options.advertise,
          ...this.#state(),
          is_there: true,
          silent_ms: 0,
        };
      const { atMs = undefined, ...seen } = this.#seen.get(name) ?? {};
      const silent = atMs === undefined ? null : Math.round(now - atMs);
      return { ...seen, name, is_there: silent !== null && silent < goneMs, silent_ms: silent };
    });
  }

  /** How many nodes are known, with this one. */
  get count(): number {
    return this.#known().size;
  }

  #known(): Set<string> {
    const all = [this.options.node, ...this.senders(), ...this.#seen.keys()];
    const removed = this.removed();
    return new Set(all.filter((name) => !removed.has(name)));
  }

  /** Tells the others that this node is there. */
  beat(asksOthers = false): void {
    const { node, advertise } = this.options;
    const told: Beat = { name: node, url: advertise, ...this.#state(), asks_others: asksOthers };
    this.messages.tell('nodes', told);
  }

  #state(): Omit<Member, 'name' | 'url'> {
    const { problem, ...others } = this.own();
    return { ...others, problem: problem?.slice(0, problemCharsMax) ?? null };
  }

  #hear({ name, url, ...told }: Partial<Beat>): void {
    if (typeof name !== 'string' || typeof url !== 'string' || name === this.options.node) return;
    const { positions = {}, serves = [], is_drained = false, problem = null } = told;
    const atMs = this.runtime.monotonicMs();
    this.#seen.set(name, { name, url, positions, serves, is_drained, problem, atMs });
    if (told.asks_others === true) this.beat();
  }
}
