import { lostBodies, removeLeaves } from '../revisions/prune.js';
import type { RevNode } from '../revisions/tree.js';
import { bodyKeyBytes } from './apply-edit.js';
import type { PurgeCommand, PurgeResult } from './commands.js';
import { isDesignId } from './doc-id.js';
import type { DatabaseKeys } from './keys.js';
import { inPartition } from './partition-counts.js';
import { encodePurge } from './purge-record.js';
import { SplitMirror } from './split-mirror.js';
import { DocWriter, loadDoc, type StoredDoc } from './stored-doc.js';
import type { ShardState } from './shard-state.js';
import { mayChangeValidators, validates } from './validators.js';
import type { GroupView } from './write-view.js';

/**
 * Removes leaves without a trace, and the document with its last one. What was to be purged is remembered for a while, so
 * that indexes can follow: also revisions that are unknown or no leaves, which are passed over.
 */
export function applyPurge(command: PurgeCommand, keys: DatabaseKeys, view: GroupView): PurgeResult[] {
  const state = view.state(keys, command.shard);
  const writer = new DocWriter(keys, view, command.shard, state);
  const mirror = SplitMirror.of(keys, view, command.shard);
  const mayChange = mayChangeValidators(command.validators, view.group(keys).validators);
  return command.purges.map(({ id, revs }) => {
    const old = loadDoc(keys, view, state, id);
    const purged = old === undefined ? undefined : removeLeaves(old.tree, revs);
    const isThere = old !== undefined && purged !== undefined && purged.removed.length > 0;
    if (isThere && isDesignId(id) && !mayChange && validates(writer, old)) return 'retry';
    const key = keys.purge(command.shard, ++state.purge_seq);
    const record = encodePurge({ uuid: command.uuid, id, revs });
    view.put(key, record);
    state.stored_bytes += key.length + record.length;
    mirror?.purged(id, state.purge_seq, record);
    if (!isThere) return [];
    inPartition(command.partitioned, keys, view, state, id, () => {
      forgetBodies(writer, state, old, lostBodies(old.tree, purged.tree));
      const seq = ++state.seq;
      if (purged.tree === undefined) writer.erase(id, old);
      else writer.replace(id, old, purged.tree, seq, [], false);
    });
    return purged.removed;
  });
}

function forgetBodies(writer: DocWriter, state: ShardState, old: StoredDoc, nodes: readonly RevNode[]): void {
  for (const node of nodes) {
    const length = writer.forget(old, node);
    if (node.leaf) state.external_bytes -= length;
    else state.obsolete_bytes -= bodyKeyBytes + length;
  }
}
