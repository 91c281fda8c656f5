import type { Runtime } from '../base/runtime.js';
import { asBytes, fromBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import type { Rev } from '../revisions/rev.js';
import { find, pathOf, type RevNode } from '../revisions/tree.js';
import { LargeDocs } from '../selectors/large-docs.js';
import type { Selector } from '../selectors/selector.js';
import { decodeChange, type ChangeRecord } from '../shard/change-record.js';
import type { Database } from '../node/database.js';
import { conflictsMember, deletedMember, docText, revisionsMember } from '../shard/doc-text.js';
import { isDesignId } from '../shard/doc-id.js';
import type { Show } from '../node/read-gate.js';
import type { ChangeEntry } from './merge-changes.js';

/** A revision that a filter is asked about. */
export interface Candidate {
  readonly id: Bytes;
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

/** Documents that a selector means. */
export function selectorFilter(selector: Selector, runtime: Runtime, timeoutMs: number): ChangeFilter {
  const large = new LargeDocs({ ...selector, isWhole: true }, undefined, runtime, timeoutMs);
  return {
    test: async (candidates) => {
      const slice = runtime.slice();
      const verdicts: boolean[] = [];
      for (const candidate of candidates) {
        if (slice.isOver) await slice.next();
        const text = candidate.text({ revisions: false });
        if (large.isLarge(text))
          verdicts.push((await large.judge({ text, added: {}, shown: undefined })).matches);
        else verdicts.push(selector.matches(JSON.parse(fromBytes(text))));
      }
      return verdicts;
    },
  };
}

/** What is handed to a function at once. */
const handedBytesMax = 1024 * 1024;

/** Documents that a function accepts, which sees their histories too. */
export function functionFilter(accepts: (docs: readonly Bytes[]) => Promise<boolean[]>): ChangeFilter {
  return {
    test: async (candidates) => {
      const verdicts: boolean[] = [];
      let texts: Bytes[] = [];
      let bytes = 0;
      for (const candidate of candidates) {
        const text = candidate.text({ revisions: true });
        texts.push(text);
        bytes += text.length;
        if (bytes < handedBytesMax) continue;
        verdicts.push(...(await accepts(texts)));
        texts = [];
        bytes = 0;
      }
      if (texts.length > 0) verdicts.push(...(await accepts(texts)));
      return verdicts;
    },
  };
}

/**
 * Puts changes before a filter. It is asked about the winner, or about each leaf where a feed shows them all; a change
 * is shown with the revisions that pass, and not at all without any. What `show` hides is not asked about: a filter must
 * not tell what its user may not read. With `conflicts` it sees them in a winner; a leaf among all leaves stands for itself.
 */
export async function passing(
  database: Database,
  filter: ChangeFilter,
  entries: readonly ChangeEntry[],
  { allLeaves, conflicts, show }: { allLeaves: boolean; conflicts: boolean; show: Show | undefined },
): Promise<ChangeEntry[]> {
  const asked = entries.map((entry) => {
    const record = decodeChange(entry.value);
    const revs = allLeaves ? record.leaves : record.leaves.slice(0, 1);
    const candidates = revs.map(
      (rev) => new RevisionCandidate(database, record, rev, conflicts && !allLeaves, show),
    );
    return { entry, revs: revs.length, candidates: candidates.filter(({ isHidden }) => !isHidden) };
  });
  const verdicts = await filter.test(asked.flatMap(({ candidates }) => candidates));
  let at = 0;
  return asked.flatMap(({ entry, revs, candidates }) => {
    const passed = candidates.filter(() => verdicts[at++]).map(({ rev }) => rev);
    if (passed.length === 0) return [];
    return [{ ...entry, revs: passed.length === revs ? undefined : passed }];
  });
}

class RevisionCandidate implements Candidate {
  constructor(
    private readonly database: Database,
    private readonly record: ChangeRecord,
    readonly rev: Rev,
    private readonly conflicts: boolean,
    private readonly show: Show | undefined,
  ) {}

  get id(): Bytes {
    return this.record.id;
  }

  get isHidden(): boolean {
    return this.show !== undefined && this.show(this.id, this.#open().content) instanceof RequestError;
  }

  text({ revisions }: { revisions: boolean }): Bytes {
    const { content, deleted, path, conflicts } = this.#open();
    const visible = this.show === undefined ? content : this.show(this.id, content);
    const history = revisions ? revisionsMember(path) : '';
    const extra = asBytes((deleted ? deletedMember : '') + history + conflicts);
    return docText(this.id, this.rev, visible instanceof RequestError ? asBytes('{}') : visible, extra);
  }

  #open(): { content: Bytes; deleted: boolean; path: readonly RevNode[]; conflicts: string } {
    const doc = this.database.collection.doc(this.id);
    const node = doc && find(doc.tree, this.rev);
    // Purged since the change was read: what is left of it is its name.
    if (doc === undefined || node === undefined)
      return { content: asBytes('{}'), deleted: this.record.deleted, path: [], conflicts: '' };
    const content = this.database.collection.body(this.database.shardOf(this.id), doc, node) ?? asBytes('{}');
    const conflicts = this.conflicts ? conflictsMember(doc) : '';
    return { content, deleted: node.deleted, path: pathOf(doc.tree, node), conflicts };
  }
}
