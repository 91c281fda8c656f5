import type { TestNode } from './test-node.js';

/** Follows the changes of a database, each request at another node, and goes on where it was when one fails. */
export class FeedFollower {
  /** The last revision of each document. */
  readonly latest = new Map<string, string>();
  rows = 0;
  #since = '0';
  #stopped = false;
  readonly #running: Promise<void>;

  constructor(private readonly nodes: readonly TestNode[]) {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#stopped; at++) {
      const { client } = this.nodes[at % this.nodes.length]!;
      const path = `/db/_changes?feed=longpoll&timeout=1000&limit=100&since=${encodeURIComponent(this.#since)}`;
      const answer = await client.get(path).catch(() => undefined);
      if (answer?.status !== 200) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      const { results, last_seq } = answer.body;
      for (const { id, changes } of results as { id: string; changes: { rev: string }[] }[])
        this.latest.set(id, changes[0]!.rev);
      this.rows += results.length;
      this.#since = String(last_seq);
    }
  }
}
