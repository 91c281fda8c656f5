import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import { newRevHash } from '../revisions/rev-hash.js';
import { extend, merge } from '../revisions/merge.js';
import { forgetInnerBodies, lostBodies, stem } from '../revisions/prune.js';
import { TreeGrowth } from '../revisions/tree-growth.js';
import {
  find,
  singleNode,
  winner,
  type RevInfo,
  type RevNode,
  type RevPath,
  type RevTree,
} from '../revisions/tree.js';
import type { Edit, EditCommand, EditResult, InteractiveEdit } from './commands.js';
import { attachmentsIdentity, hasAttachments, splitContent } from './content.js';
import { isDesignId } from './doc-id.js';
import type { DatabaseKeys } from './keys.js';
import { inPartition } from './partition-counts.js';
import type { ShardState } from './shard-state.js';
import { DocWriter, loadDoc, type NewBody, type StoredDoc } from './stored-doc.js';
import { editValidates, mayChangeValidators } from './validators.js';
import type { GroupView } from './write-view.js';

/**
 * How much one application of a command does, in units of about a microsecond. Counted and not timed, so that the same
 * command does the same everywhere.
 */
const workMax = 10_000;
const editWork = 10;
const bytesOfWork = 500;

/**
 * Adds revisions to documents. Within a command, a later edit sees what an earlier one has done. Stops where the work
 * becomes too much for one turn of the event loop: results are those of the first edits, at least one, and the rest is
 * to be applied by itself.
 */
export function applyEdit(command: EditCommand, keys: DatabaseKeys, view: GroupView): EditResult[] {
  const state = view.state(keys, command.shard);
  const writer = new DocWriter(keys, view, command.shard, state);
  const target: Target = { command, keys, view, state, writer, validators: view.group(keys).validators };
  const { edits } = command;
  if (edits.length === 1) return [applyOne(target, edits[0]!, loadDoc(keys, view, state, edits[0]!.id))];
  const repeated = repeatedIds(edits);
  const growing = new Map<Bytes, GrowingDoc>();
  const results: EditResult[] = [];
  let work = 0;
  let loadedNodes = 0;
  for (let i = 0; i < edits.length && work < workMax; i++) {
    const edit = edits[i]!;
    let doc = growing.get(edit.id);
    if (doc === undefined) {
      // A large tree is loaded once, however many of its edits follow; another one is for the next time.
      if (loadedNodes > workMax) break;
      const old = loadDoc(keys, view, state, edit.id);
      loadedNodes += old?.tree.length ?? 0;
      if (repeated?.has(edit.id)) growing.set(edit.id, (doc = new GrowingDoc(target, edit.id, old)));
      else results.push(applyOne(target, edit, old));
    }
    if (doc !== undefined) results.push(doc.add(edit));
    work += editWork + (edit.path?.hashes.length ?? 0) + edit.body.length / bytesOfWork;
  }
  for (const doc of growing.values()) doc.store();
  return results;
}

function repeatedIds(edits: readonly Edit[]): Set<Bytes> | undefined {
  // Those of a request are sorted, and few name a document twice.
  if (edits.every(({ id }, i) => i === 0 || edits[i - 1]!.id < id)) return undefined;
  const ids = new Set<Bytes>();
  let repeated: Set<Bytes> | undefined;
  for (const { id } of edits) {
    if (ids.has(id)) (repeated ??= new Set()).add(id);
    else ids.add(id);
  }
  return repeated;
}

/** Where edits go, and by what. */
interface Target {
  command: EditCommand;
  keys: DatabaseKeys;
  view: GroupView;
  state: ShardState;
  writer: DocWriter;
  /** What the group knows of the validation functions. */
  validators: Bytes;
}

/** What edits have made of a document, to be stored under the sequence of the last of them. */
interface Grown {
  tree: RevTree;
  /** The bodies they brought, of which the tree may refer to. */
  brought: readonly NewBody[];
  /** The leaves that are none any more. */
  superseded: readonly RevNode[];
}

function applyOne(target: Target, edit: Edit, old: StoredDoc | undefined): EditResult {
  const { command, state, writer } = target;
  const grown =
    edit.path === undefined ? growByHand(edit, old, state.seq + 1) : growByHistory(edit, old, state.seq + 1);
  if (grown === undefined) return undefined;
  if (!writer.blobs.has(edit.body, command.small_blobs, command.stored_blobs)) return 'missing_blob';
  if (grown.tree !== old?.tree) {
    if (isRefused(target, edit, old)) return 'retry';
    const brought = grown.stored ? [newBody(target, edit, state.seq + 1)] : [];
    state.seq++;
    store(target, edit.id, old, { tree: grown.tree, brought, superseded: grown.superseded });
  }
  return grown.rev;
}

/** Whether an edit was checked against other validation functions, or would change them unannounced. */
function isRefused({ command, validators, writer }: Target, edit: Edit, old: StoredDoc | undefined): boolean {
  if (!isDesignId(edit.id)) return command.validators !== undefined && command.validators !== validators;
  return !mayChangeValidators(command.validators, validators) && editValidates(edit, writer, old);
}

const newBody = ({ command }: Target, { body }: Edit, ref: number): NewBody => ({
  ref,
  body,
  smallBlobs: command.small_blobs,
});

/** An edit's tree, and what `Grown` has of it. */
interface GrownByOne {
  tree: RevTree;
  rev: Rev;
  /** Whether the tree refers to the edit's body. */
  stored: boolean;
  superseded: readonly RevNode[];
}

/** An edit made here must name the leaf it continues; a deleted document is recreated on its winning tombstone. */
function growByHand(edit: InteractiveEdit, old: StoredDoc | undefined, seq: number): GrownByOne | undefined {
  const { parent, deleted, body } = edit;
  if (old === undefined) {
    if (parent !== undefined) return undefined;
    const rev = firstRev(edit);
    return { tree: singleNode(rev, { deleted, body: seq }), rev, stored: true, superseded: [] };
  }
  const leaf = continuedLeaf(edit, old.deleted, {
    find: (rev) => find(old.tree, rev),
    winner: () => winner(old.tree),
  });
  if (leaf === undefined) return undefined;
  const rev = { pos: leaf.pos + 1, hash: hashOf(deleted, leaf, body) };
  const { tree, stored, superseded } = extend(old.tree, leaf, rev, { deleted, body: seq });
  return { tree, rev, stored, superseded };
}

const firstRev = ({ deleted, body }: InteractiveEdit): Rev => ({
  pos: 1,
  hash: hashOf(deleted, undefined, body),
});

function hashOf(deleted: boolean, parent: Rev | undefined, content: Bytes): string {
  if (!hasAttachments(content)) return newRevHash({ deleted, parent, body: content });
  const { attachments, body } = splitContent(content);
  return newRevHash({ deleted, parent, body, attachments: attachmentsIdentity(attachments) });
}

/** The leaf that an edit continues; undefined where it is in conflict. */
function continuedLeaf(
  { parent, deleted }: InteractiveEdit,
  isDeleted: boolean,
  tree: { find(rev: Rev): RevNode | undefined; winner(): RevNode },
): RevNode | undefined {
  if (isDeleted) return parent === undefined && !deleted ? tree.winner() : undefined;
  const node = parent && tree.find(parent);
  return node?.leaf ? node : undefined;
}

function growByHistory(
  edit: Extract<Edit, { parent: undefined; path: object }>,
  old: StoredDoc | undefined,
  seq: number,
): GrownByOne {
  const { start, hashes } = edit.path;
  const { tree, stored, superseded } = merge(old?.tree, edit.path, { deleted: edit.deleted, body: seq });
  return { tree, rev: { pos: start, hash: hashes[0]! }, stored, superseded };
}

/** A document that several edits of a command concern: they go into its tree together, and it is stored once. */
class GrowingDoc {
  readonly #growth: TreeGrowth;
  readonly #brought: NewBody[] = [];
  readonly #superseded: RevNode[] = [];
  #seq = 0;

  constructor(
    private readonly target: Target,
    private readonly id: Bytes,
    private readonly old: StoredDoc | undefined,
  ) {
    this.#growth = new TreeGrowth(old?.tree);
  }

  add(edit: Edit): EditResult {
    const { state, writer, command } = this.target;
    const grow = edit.path === undefined ? this.#byHand(edit) : this.#byHistory(edit.path);
    if (grow === undefined) return undefined;
    if (!writer.blobs.has(edit.body, command.small_blobs, command.stored_blobs)) return 'missing_blob';
    if (isRefused(this.target, edit, this.old)) return 'retry';
    const seq = state.seq + 1;
    const { changed, stored, superseded } = grow.with({ deleted: edit.deleted, body: seq });
    if (changed) {
      this.#seq = state.seq = seq;
      if (stored) this.#brought.push(newBody(this.target, edit, seq));
      this.#superseded.push(...superseded);
    }
    return grow.rev;
  }

  store(): void {
    const tree = this.#growth.tree();
    if (tree === undefined || tree === this.old?.tree) return;
    const brought = new Set(this.#brought.map(({ ref }) => ref));
    // What came and was superseded within the command is counted as what it is in the end.
    const superseded = this.#superseded.filter(({ body }) => !brought.has(body));
    store(this.target, this.id, this.old, { tree, brought: this.#brought, superseded }, this.#seq);
  }

  #byHand(edit: InteractiveEdit): Growing | undefined {
    const { parent, deleted, body } = edit;
    const growth = this.#growth;
    if (growth.isEmpty) {
      if (parent !== undefined) return undefined;
      const rev = firstRev(edit);
      return { rev, with: (info) => growth.merge({ start: rev.pos, hashes: [rev.hash] }, info) };
    }
    const leaf = continuedLeaf(edit, growth.isDeleted, growth);
    if (leaf === undefined) return undefined;
    const rev = { pos: leaf.pos + 1, hash: hashOf(deleted, leaf, body) };
    return { rev, with: (info) => growth.extend(leaf, rev, info) };
  }

  #byHistory(path: RevPath): Growing {
    const rev = { pos: path.start, hash: path.hashes[0]! };
    return { rev, with: (info) => this.#growth.merge(path, info) };
  }
}

/** A revision that can join a tree. */
interface Growing {
  rev: Rev;
  with(info: RevInfo): ReturnType<TreeGrowth['merge']>;
}

function store(
  { command, keys, view, state, writer }: Target,
  id: Bytes,
  old: StoredDoc | undefined,
  grown: Grown,
  seq = state.seq,
): void {
  inPartition(command.partitioned, keys, view, state, id, () => {
    const stemmed = stem(grown.tree, command.revs_limit);
    const tree = command.compacting ? forgetInnerBodies(stemmed, forgottenBodiesMax).tree : stemmed;
    const added = count(state, tree, grown.brought);
    for (const leaf of grown.superseded) {
      const length = writer.bodyLengthOf(old!, leaf);
      state.external_bytes -= length;
      state.obsolete_bytes += bodyKeyBytes + length;
    }
    writer.replace(id, old, tree, seq, added);
    // Only now: a blob that the new revision keeps must never seem to be unused.
    if (tree !== grown.tree && old !== undefined) {
      for (const node of lostBodies(old.tree, tree))
        state.obsolete_bytes -= bodyKeyBytes + writer.forget(old, node);
    }
  });
}

/** Counts the bodies that are kept, and gives them. Stemming may take away the very revision that came, if it is old. */
function count(state: ShardState, tree: RevTree, brought: readonly NewBody[]): readonly NewBody[] {
  if (brought.length === 0) return brought;
  const only = brought.length === 1 ? brought[0]! : undefined;
  const bodies = only === undefined ? new Map(brought.map((each) => [each.ref, each])) : undefined;
  const added: NewBody[] = [];
  for (const { body: ref, leaf } of tree) {
    const each = bodies === undefined ? (only!.ref === ref ? only : undefined) : bodies.get(ref);
    if (each === undefined) continue;
    added.push(each);
    if (leaf) state.external_bytes += each.body.length;
    else state.obsolete_bytes += bodyKeyBytes + each.body.length;
  }
  return added;
}

/** Bodies of a document that an edit forgets while its database is compacted; the rest are left to the compaction. */
const forgottenBodiesMax = 100;

/** The key of a body: instance, table, shard, number. */
export const bodyKeyBytes = 5 + 1 + 2 + 6;
