import { isHashedKey, type DatabaseKeys } from './keys.js';
import type { LocalCommand } from './commands.js';
import { encodeLocal } from './local-record.js';
import type { GroupView } from './write-view.js';

export function applyLocal(command: LocalCommand, keys: DatabaseKeys, view: GroupView): void {
  const state = view.state(keys, command.shard);
  for (const { id, rev, body } of command.edits) {
    const key = keys.local(id);
    const old = view.get(key);
    if (old !== undefined) state.stored_bytes -= key.length + old.length;
    if (rev === 0) {
      if (old !== undefined) view.remove(key);
      continue;
    }
    const value = encodeLocal({ rev, body, longId: isHashedKey(id) ? id : undefined });
    view.put(key, value);
    state.stored_bytes += key.length + value.length;
  }
}
