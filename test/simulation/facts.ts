import assert from 'node:assert/strict';
import { fromBytes, type Bytes } from '../../src/base/bytes.js';
import { RequestError } from '../../src/base/errors.js';
import { openDoc } from '../../src/documents/open-doc.js';
import type { Database } from '../../src/node/database.js';
import { docText } from '../../src/shard/doc-text.js';
import { openRevs } from '../support/open-revs.js';

/** One leaf as a reader sees it. */
export interface Leaf {
  rev: string;
  deleted: boolean;
  /** The number of the write that made it. */
  n: number;
  /** The names of its attachments. */
  attachments: string[];
  /** The revision and its ancestors. */
  history: string[];
}

type Outcome = 'under way' | 'stored' | 'refused' | 'unknown';

/**
 * What clients know of a database, over all crashes: what became of each write, which revisions have to be there because a
 * write was acknowledged or a reader has seen them, and which revision continues which.
 */
export class Facts {
  readonly #outcomes: Outcome[] = [];
  readonly #kept = new Map<Bytes, Set<string>>();
  readonly #continued = new Map<string, string>();
  /** Documents that are being purged, or were: what is left of them is their client's business. */
  readonly purged = new Set<Bytes>();

  /**
   * `isFlushed` tells whether a crash could take nothing back that is visible. LMDB shows a batch when it is flushed and not
   * before; the simulated store shows it earlier, so that an answer that comes too early is found.
   */
  constructor(private readonly isFlushed: () => boolean) {}

  /** The number of a new write, which its body holds. */
  begin(): number {
    return this.#outcomes.push('under way') - 1;
  }

  stored(n: number, id: Bytes, rev: string, parent: string | undefined): void {
    this.#outcomes[n] = 'stored';
    this.keep(id, rev);
    if (parent === undefined) return;
    const before = this.#continued.get(`${id} ${parent}`);
    assert.equal(before, undefined, `${id}: ${before} and ${rev} both continue ${parent}`);
    this.#continued.set(`${id} ${parent}`, rev);
  }

  refused(n: number): void {
    this.#outcomes[n] = 'refused';
  }

  /** Writes under way may have been stored or not. */
  crashed(): void {
    for (const [n, outcome] of this.#outcomes.entries())
      if (outcome === 'under way') this.#outcomes[n] = 'unknown';
  }

  keep(id: Bytes, rev: string): void {
    let kept = this.#kept.get(id);
    if (kept === undefined) this.#kept.set(id, (kept = new Set()));
    kept.add(rev);
  }

  get ids(): Bytes[] {
    return [...this.#kept.keys()].filter((id) => !this.purged.has(id));
  }

  /** Refuses what shows a write that was refused. */
  checkStored(n: number, what: string): void {
    assert.notEqual(this.#outcomes[n], 'refused', `${what} was refused, and is stored`);
  }

  /** What an answer has to show of a document, if it is asked for now. */
  keptOf(id: Bytes): readonly string[] {
    return [...(this.#kept.get(id) ?? [])];
  }

  /** Compares the leaves that were read with what has to be there. */
  check(id: Bytes, leaves: readonly Leaf[], kept: readonly string[]): void {
    if (this.purged.has(id)) return;
    const there = new Set(leaves.flatMap(({ history }) => history));
    for (const rev of kept) assert.ok(there.has(rev), `${id}: ${rev} was acknowledged or seen, and is lost`);
    for (const { n, rev } of leaves) this.checkStored(n, `${id}: ${rev}`);
  }

  /** Reads a document below HTTP, at one moment, and compares it with what has to be there. */
  look(database: Database, id: Bytes): Leaf[] {
    const leaves = leavesOf(database, id);
    if (this.purged.has(id)) return leaves;
    this.check(id, leaves, this.keptOf(id));
    if (this.isFlushed()) for (const { rev } of leaves) this.keep(id, rev);
    checkWinner(database, id, leaves);
    return leaves;
  }
}

function leavesOf(database: Database, id: Bytes): Leaf[] {
  return (openRevs(database, id, 'all', { revs: true }) ?? []).map((opened) => {
    assert.ok('ok' in opened, `${id}: a leaf has no body`);
    const { rev, content, extra } = opened.ok;
    return leafOf(JSON.parse(fromBytes(docText(id, rev, content, extra))) as Record<string, unknown>);
  });
}

/** A leaf, by the document with its revisions. */
export function leafOf(doc: Record<string, unknown>): Leaf {
  const { start, ids } = doc['_revisions'] as { start: number; ids: string[] };
  return {
    rev: String(doc['_rev']),
    deleted: doc['_deleted'] === true,
    n: Number(doc['n']),
    attachments: Object.keys((doc['_attachments'] ?? {}) as object),
    history: ids.map((hash, at) => `${start - at}-${hash}`),
  };
}

/** The living before the deleted, then the longest history, then the greatest hash. */
export function best(leaves: readonly Leaf[]): Leaf | undefined {
  const pos = ({ rev }: Leaf): number => Number(rev.split('-')[0]);
  return leaves.toSorted(
    (a, b) => Number(a.deleted) - Number(b.deleted) || pos(b) - pos(a) || (a.rev < b.rev ? 1 : -1),
  )[0];
}

function checkWinner(database: Database, id: Bytes, leaves: readonly Leaf[]): void {
  const winner = best(leaves);
  try {
    const { rev } = openDoc(database, id, {});
    assert.equal(`${rev.pos}-${rev.hash}`, winner?.rev, `${id}: the winner`);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    assert.equal(error.reason, winner === undefined ? 'missing' : 'deleted', `${id}: the winner`);
  }
}
