import type { Bytes } from '../../base/bytes.js';
import type { Rev } from '../../revisions/rev.js';
import { find, pathOf } from '../../revisions/tree.js';
import { decodeChange, type ChangeRecord } from '../../shard/change-record.js';
import type { Database } from '../database.js';
import { deletedMember, docText, revisionsMember } from '../../shard/doc-text.js';
import { isDesignId } from '../document-input.js';
import type { ChangeEntry } from './merge-changes.js';

/** A revision that a filter is asked about. */
export interface Candidate {
  readonly id: Bytes;
  readonly deleted: boolean;
  /** The document as JSON, with `_revisions` where that is wanted. Read only when it is asked for. */
  text(options: { revisions: boolean }): Bytes;
}

/** Decides which changes a feed shows. */
export interface ChangeFilter {
  /** For each candidate whether it passes. */
  test(candidates: readonly Candidate[]): boolean[] | Promise<boolean[]>;
}

/** Design documents, by their ids. */
export const designFilter: ChangeFilter = {
  test: (candidates) => candidates.map(({ id }) => isDesignId(id)),
};

/** Documents of a list, by their ids. */
export function idFilter(ids: ReadonlySet<Bytes>): ChangeFilter {
  return { test: (candidates) => candidates.map(({ id }) => ids.has(id)) };
}

/**
 * Puts changes before a filter. It is asked about the winner, or about each leaf where a feed shows them all; a change
 * is shown with the revisions that pass, and not at all without any.
 */
export async function passing(
  database: Database,
  filter: ChangeFilter,
  entries: readonly ChangeEntry[],
  allLeaves: boolean,
): Promise<ChangeEntry[]> {
  const asked = entries.map((entry) => ({ entry, candidates: candidatesOf(database, entry, allLeaves) }));
  const verdicts = await filter.test(asked.flatMap(({ candidates }) => candidates));
  let at = 0;
  return asked.flatMap(({ entry, candidates }) => {
    const revs = candidates.filter(() => verdicts[at++]).map(({ rev }) => rev);
    if (revs.length === 0) return [];
    return [{ ...entry, revs: revs.length === candidates.length ? undefined : revs }];
  });
}

function candidatesOf(
  database: Database,
  { shard, value }: ChangeEntry,
  allLeaves: boolean,
): RevisionCandidate[] {
  const record = decodeChange(value);
  const revs = allLeaves ? record.leaves : record.leaves.slice(0, 1);
  return revs.map((rev) => new RevisionCandidate(database, shard, record, rev));
}

class RevisionCandidate implements Candidate {
  constructor(
    private readonly database: Database,
    private readonly shard: number,
    private readonly record: ChangeRecord,
    readonly rev: Rev,
  ) {}

  get id(): Bytes {
    return this.record.id;
  }

  get deleted(): boolean {
    // Of leaves that did not win, only the tree knows.
    if (this.rev === this.record.leaves[0]) return this.record.deleted;
    return this.#node()?.node.deleted ?? false;
  }

  text({ revisions }: { revisions: boolean }): Bytes {
    const found = this.#node();
    // Purged since the change was read: what is left of it is its name.
    if (found === undefined)
      return docText(this.id, this.rev, '{}', this.record.deleted ? deletedMember : '');
    const { doc, node } = found;
    const content = this.database.collection.body(this.shard, doc, node) ?? '{}';
    const path = revisions ? revisionsMember(pathOf(doc.tree, node)) : '';
    return docText(this.id, this.rev, content, (node.deleted ? deletedMember : '') + path);
  }

  #node() {
    const doc = this.database.collection.doc(this.id);
    const node = doc && find(doc.tree, this.rev);
    return doc === undefined || node === undefined ? undefined : { doc, node };
  }
}
