import type { Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import { newRevHash } from '../revisions/rev-hash.js';
import { extend, merge } from '../revisions/merge.js';
import { lostBodies, stem } from '../revisions/prune.js';
import { find, singleNode, winner, type RevNode, type RevTree } from '../revisions/tree.js';
import type { Edit, EditCommand, EditResult, InteractiveEdit } from './commands.js';
import { attachmentsIdentity, hasAttachments, splitContent } from './content.js';
import type { DatabaseKeys } from './keys.js';
import { inPartition } from './partition-counts.js';
import type { ShardState } from './shard-state.js';
import { DocWriter, loadDoc, type StoredDoc } from './stored-doc.js';
import type { WriteView } from './write-view.js';

/** Adds revisions to documents. Within a command, a later edit sees what an earlier one has done. */
export function applyEdit(command: EditCommand, keys: DatabaseKeys, view: WriteView): EditResult[] {
  const state = view.state(keys, command.shard);
  const writer = new DocWriter(keys, view, command.shard, state);
  return command.edits.map((edit) => {
    const old = loadDoc(keys, view, state, edit.id);
    const grown =
      edit.path === undefined
        ? growByHand(edit, old, state.seq + 1)
        : growByHistory(edit, old, state.seq + 1);
    if (grown === undefined) return undefined;
    if (!writer.blobs.has(edit.body, command.small_blobs, command.stored_blobs)) return 'missing_blob';
    if (grown.tree !== old?.tree)
      inPartition(command.partitioned, keys, view, state, edit.id, () =>
        store(writer, state, edit, old, grown, command),
      );
    return grown.rev;
  });
}

interface Grown {
  tree: RevTree;
  rev: { pos: number; hash: string };
  /** Whether the tree refers to the edit's body. */
  stored: boolean;
  /** The leaves that are none any more. */
  superseded: RevNode[];
}

/** An edit made here must name the leaf it continues; a deleted document is begun anew on its winning tombstone. */
function growByHand(edit: InteractiveEdit, old: StoredDoc | undefined, seq: number): Grown | undefined {
  const { parent, deleted, body } = edit;
  if (old === undefined) {
    if (parent !== undefined) return undefined;
    const rev = { pos: 1, hash: hashOf(deleted, undefined, body) };
    return { tree: singleNode(rev, { deleted, body: seq }), rev, stored: true, superseded: [] };
  }
  const leaf = continuedLeaf(edit, old);
  if (leaf === undefined) return undefined;
  const rev = { pos: leaf.pos + 1, hash: hashOf(deleted, leaf, body) };
  const { tree, stored } = extend(old.tree, leaf, rev, { deleted, body: seq });
  return { tree, rev, stored, superseded: [leaf] };
}

function hashOf(deleted: boolean, parent: Rev | undefined, content: Bytes): string {
  if (!hasAttachments(content)) return newRevHash({ deleted, parent, body: content });
  const { attachments, body } = splitContent(content);
  return newRevHash({ deleted, parent, body, attachments: attachmentsIdentity(attachments) });
}

function continuedLeaf({ parent, deleted }: InteractiveEdit, old: StoredDoc): RevNode | undefined {
  if (old.deleted) return parent === undefined && !deleted ? winner(old.tree) : undefined;
  const node = parent && find(old.tree, parent);
  return node?.leaf ? node : undefined;
}

function growByHistory(
  edit: Extract<Edit, { parent: undefined; path: object }>,
  old: StoredDoc | undefined,
  seq: number,
): Grown {
  const { start, hashes } = edit.path;
  const rev = { pos: start, hash: hashes[0]! };
  const merged = merge(old?.tree, edit.path, { deleted: edit.deleted, body: seq });
  const superseded = (old?.tree ?? []).filter((node) => node.leaf && find(merged.tree, node)?.leaf === false);
  return { tree: merged.tree, rev, stored: merged.stored, superseded };
}

function store(
  writer: DocWriter,
  state: ShardState,
  edit: Edit,
  old: StoredDoc | undefined,
  grown: Grown,
  command: EditCommand,
): void {
  const seq = ++state.seq;
  const tree = stem(grown.tree, command.revs_limit);
  // Stemming may take away the very revision that came, when it is an old one.
  const added = grown.stored ? find(tree, grown.rev) : undefined;
  if (added?.leaf) state.external_bytes += edit.body.length;
  else if (added !== undefined) state.obsolete_bytes += bodyKeyBytes + edit.body.length;
  for (const leaf of grown.superseded) {
    const length = writer.bodyLengthOf(old!, leaf);
    state.external_bytes -= length;
    state.obsolete_bytes += bodyKeyBytes + length;
  }
  const brought = added && { ref: seq, body: edit.body, smallBlobs: command.small_blobs };
  writer.replace(edit.id, old, tree, seq, brought);
  // Only now: a blob that the new revision keeps must never seem to be needed by nobody.
  if (tree !== grown.tree && old !== undefined) {
    forgetStemmed(writer, state, old, lostBodies(grown.tree, tree));
  }
}

/** Bodies of revisions that fell off the end of the history. The winner's may still be in its record. */
function forgetStemmed(writer: DocWriter, state: ShardState, old: StoredDoc, refs: readonly number[]): void {
  for (const ref of refs) {
    const node = old.tree.find(({ body }) => body === ref);
    if (node === undefined) continue;
    state.obsolete_bytes -= bodyKeyBytes + writer.forget(old, node);
  }
}

/** The key of a body: instance, table, shard, number. */
export const bodyKeyBytes = 5 + 1 + 2 + 6;
