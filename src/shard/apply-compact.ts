import { forgetInnerBodies } from '../revisions/prune.js';
import type { CompactCommand } from './commands.js';
import type { DatabaseKeys } from './keys.js';
import { inPartition } from './partition-counts.js';
import { SplitMirror } from './split-mirror.js';
import { DocWriter, loadDoc } from './stored-doc.js';
import { bodyKeyBytes } from './apply-edit.js';
import type { GroupView } from './write-view.js';

/** Bodies of one document that a command forgets: where there are more, it is to be sent again. */
export const compactedBodiesMax = 1_000;

/** Purges that a command forgets: where there are more beyond the limit, it is to be sent again. */
const compactedPurgesMax = 1_000;

export function applyCompact(command: CompactCommand, keys: DatabaseKeys, view: GroupView): void {
  const state = view.state(keys, command.shard);
  const writer = new DocWriter(keys, view, command.shard, state);
  for (const id of command.ids) {
    const doc = loadDoc(keys, view, state, id);
    if (doc === undefined) continue;
    const { tree, forgotten } = forgetInnerBodies(doc.tree, compactedBodiesMax);
    if (forgotten.length === 0) continue;
    inPartition(command.partitioned, keys, view, state, id, () => {
      for (const [i, node] of doc.tree.entries()) {
        if (tree[i] !== node) state.obsolete_bytes -= bodyKeyBytes + writer.forget(doc, node);
      }
      writer.rewrite(id, doc, tree);
    });
  }
  const mirror = SplitMirror.of(keys, view, command.shard);
  const excess = state.purge_seq - state.purges_from + 1 - command.purged_infos_limit;
  for (let left = Math.min(excess, compactedPurgesMax); left > 0; left--) {
    mirror?.forgot(state.purges_from);
    const key = keys.purge(command.shard, state.purges_from++);
    const record = view.get(key);
    if (record === undefined) continue;
    view.remove(key);
    state.stored_bytes -= key.length + record.length;
  }
}
