/**
 * One document as a simple mind would keep it: a map from each known revision to its parent. Slow and plain, written
 * without a look at `src/revisions/`, to be compared with it.
 */
export interface Rev {
  pos: number;
  hash: string;
}

export interface Fact extends Rev {
  parent: string | undefined;
  deleted: boolean;
  /** Undefined where it was never known, or was forgotten. */
  body: string | undefined;
}

/** A revision as somebody in the world has made it, complete with body and parent. */
export type Made = Fact & { body: string };

export const keyOf = ({ pos, hash }: Rev): string => `${pos}-${hash}`;

const orderBytes = (hash: string): Buffer => Buffer.from(hash, /^[0-9a-f]{32}$/.test(hash) ? 'hex' : 'utf8');

export class DocModel {
  readonly facts = new Map<string, Fact>();
  /** How the counters have it; undefined while there is no document. */
  countsAsLive: boolean | undefined;

  get exists(): boolean {
    return this.facts.size > 0;
  }

  /** Best first: the living before the deleted, then the longest history, then the greatest hash. */
  leaves(): Fact[] {
    const parents = new Set([...this.facts.values()].map(({ parent }) => parent));
    const found = [...this.facts.values()].filter((fact) => !parents.has(keyOf(fact)));
    return found.sort(
      (a, b) =>
        Number(a.deleted) - Number(b.deleted) ||
        b.pos - a.pos ||
        Buffer.compare(orderBytes(b.hash), orderBytes(a.hash)),
    );
  }

  isLeaf(key: string): boolean {
    return this.facts.has(key) && ![...this.facts.values()].some(({ parent }) => parent === key);
  }

  inner(): Fact[] {
    const parents = new Set([...this.facts.values()].map(({ parent }) => parent));
    return [...this.facts.values()].filter((fact) => parents.has(keyOf(fact)));
  }

  /** The revision and its known ancestors. */
  path(key: string): Fact[] {
    const path: Fact[] = [];
    for (let at: string | undefined = key; at !== undefined;) {
      const fact: Fact = this.facts.get(at)!;
      path.push(fact);
      at = fact.parent;
    }
    return path;
  }

  /** Which revision an edit made here would continue: 'new' for a first one, undefined for a conflict. */
  continued(parent: Rev | undefined, deleted: boolean): Fact | 'new' | undefined {
    if (!this.exists) return parent === undefined ? 'new' : undefined;
    const [best] = this.leaves();
    if (best!.deleted) return parent === undefined && !deleted ? best : undefined;
    if (parent === undefined || !this.isLeaf(keyOf(parent))) return undefined;
    return this.facts.get(keyOf(parent));
  }

  /** Adds an edit made here. */
  edit(made: Made, revsLimit: number): void {
    this.facts.set(keyOf(made), { ...made });
    this.#stem(revsLimit);
    this.#recount();
  }

  /** Adds a history made elsewhere, the newest revision first; tells whether that changed anything. */
  merge(history: readonly Made[], revsLimit: number): boolean {
    const [newest] = history;
    const before = this.#summary();
    const old = this.facts.get(keyOf(newest!));
    if (old === undefined) {
      this.facts.set(keyOf(newest!), { ...newest!, parent: undefined });
    } else if (old.body === undefined && !this.isLeaf(keyOf(old))) {
      Object.assign(old, { body: newest!.body, deleted: newest!.deleted });
    }
    for (const [at, ancestor] of history.slice(1).entries()) {
      const key = keyOf(ancestor);
      if (!this.facts.has(key)) {
        this.facts.set(key, { ...ancestor, parent: undefined, deleted: false, body: undefined });
      }
      this.facts.get(keyOf(history[at]!))!.parent = key;
    }
    if (this.#summary() === before) return false;
    this.#stem(revsLimit);
    this.#recount();
    return true;
  }

  /** Removes leaves, each with the ancestors that no other branch needs. */
  purge(revs: readonly Rev[]): Rev[] {
    const removed = [...new Set(revs.map(keyOf))].filter((key) => this.isLeaf(key));
    const revsRemoved = removed.map((key) => this.facts.get(key)!);
    for (const key of removed) {
      for (let at: string | undefined = key; at !== undefined && this.isLeaf(at);) {
        const { parent }: Fact = this.facts.get(at)!;
        this.facts.delete(at);
        at = parent;
      }
    }
    // What is left is not counted anew before the next edit.
    if (!this.exists) this.countsAsLive = undefined;
    return revsRemoved.map(({ pos, hash }) => ({ pos, hash }));
  }

  compact(): void {
    for (const fact of this.inner()) fact.body = undefined;
  }

  /** What a merge can change. */
  #summary(): string {
    return [...this.facts].map(([key, { parent, body }]) => `${key} ${parent} ${body === undefined}`).join();
  }

  #stem(limit: number): void {
    const kept = new Set(this.leaves().flatMap((leaf) => this.path(keyOf(leaf)).slice(0, limit).map(keyOf)));
    for (const key of this.facts.keys()) if (!kept.has(key)) this.facts.delete(key);
    for (const fact of this.facts.values()) {
      if (fact.parent !== undefined && !kept.has(fact.parent)) fact.parent = undefined;
    }
  }

  #recount(): void {
    this.countsAsLive = !this.leaves()[0]!.deleted;
  }
}
