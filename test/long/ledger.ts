import assert from 'node:assert/strict';

/** A document's body has a number; undefined where there is no document. */
type State = number | undefined;

/** What a request came to: stored, refused by an answer, or nobody knows. */
export type Outcome = { rev: string | undefined } | { refused: string } | 'in doubt';

/** What clients know of the documents of one database: which state each may be in after what was answered. */
export class Ledger {
  readonly #states = new Map<string, Set<State>>();
  readonly #revs = new Map<string, string | undefined>();
  /** The last answer that refused something, by document. */
  readonly #refusals = new Map<string, string>();
  acknowledged = 0;
  refused = 0;
  doubtful = 0;

  /** A document whose state is certain, with its revision; undefined where there is none yet. */
  settled(pick: (ids: readonly string[]) => string): { id: string; rev: string } | undefined {
    if (this.#revs.size === 0) return undefined;
    const id = pick([...this.#revs.keys()]);
    const rev = this.#revs.get(id);
    return rev === undefined || this.#states.get(id)!.size > 1 ? undefined : { id, rev };
  }

  /** Until it is known what became of a request, the document may be in the old state or the new one. */
  begin(id: string, next: State): (outcome: Outcome) => void {
    const before = this.#states.get(id) ?? new Set([undefined]);
    this.#states.set(id, new Set([...before, next]));
    return (outcome) => {
      if (outcome === 'in doubt') {
        this.doubtful++;
        this.#revs.delete(id);
      } else if ('refused' in outcome) {
        this.refused++;
        this.#refusals.set(id, outcome.refused);
        this.#states.set(id, before);
      } else {
        this.acknowledged++;
        this.#states.set(id, new Set([next]));
        if (outcome.rev === undefined) this.#revs.delete(id);
        else this.#revs.set(id, outcome.rev);
      }
    };
  }

  /** Compares with all that is there; what was in doubt is settled by it. Nothing may be under way. */
  check(found: ReadonlyMap<string, { n: number; rev: string }>, what: string): void {
    for (const [id, allowed] of this.#states) {
      const now = found.get(id);
      const states = [...allowed].map(String).join(' or ');
      const refusal = this.#refusals.get(id) ?? 'nothing';
      assert.ok(
        allowed.has(now?.n),
        `${what}: ${id} is ${now?.n}, and should be ${states}; last refused: ${refusal}`,
      );
      this.#states.set(id, new Set([now?.n]));
      if (now === undefined) this.#revs.delete(id);
      else this.#revs.set(id, now.rev);
    }
    for (const id of found.keys()) assert.ok(this.#states.has(id), `${what}: nobody wrote ${id}`);
  }
}
