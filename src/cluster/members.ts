import type { Runtime, Timer } from '../base/runtime.js';
import type { NatsServers } from './nats-connection.js';

/** How often nodes tell each other that they are there, and after which silence one counts as gone. */
const beatMs = 1_000;
const goneMs = 4_000;

export interface Member {
  name: string;
  /** Where it is reached. */
  url: string;
}

/** The nodes that have been seen since the start of this one. They tell of themselves by messages that are not stored. */
export class Members {
  readonly #seen = new Map<string, Member & { atMs: number }>();
  #timer: Timer | undefined;
  #end: (() => void) | undefined;

  constructor(
    private readonly nats: NatsServers,
    private readonly options: { name: string; node: string; advertise: string },
    private readonly runtime: Runtime,
  ) {}

  start(): void {
    const { name } = this.options;
    this.#end = this.nats.listen(`${name}.nodes`, (text) => this.#hear(text));
    this.#timer = this.runtime.setIdleRepeating(() => this.#beat(), beatMs);
    this.#beat();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#end?.();
  }

  names(): { all: string[]; known: string[] } {
    const others = [...this.#seen.values()];
    const names = (list: readonly Member[]): string[] =>
      [this.options.node, ...list.map(({ name }) => name)].sort();
    return { all: names(this.others()), known: names(others) };
  }

  /** The other nodes that are there now. */
  others(): Member[] {
    const now = this.runtime.monotonicMs();
    return [...this.#seen.values()].filter(({ atMs, url }) => now - atMs < goneMs && url !== '');
  }

  /** How many nodes are known, with this one. */
  get count(): number {
    return this.#seen.size + 1;
  }

  #beat(): void {
    const { name, node, advertise } = this.options;
    this.nats.tell(`${name}.nodes`, JSON.stringify({ name: node, url: advertise }));
  }

  #hear(text: string): void {
    try {
      const { name, url } = JSON.parse(text) as Partial<Member>;
      if (typeof name !== 'string' || typeof url !== 'string' || name === this.options.node) return;
      this.#seen.set(name, { name, url, atMs: this.runtime.monotonicMs() });
    } catch {
      // Not one of ours.
    }
  }
}
