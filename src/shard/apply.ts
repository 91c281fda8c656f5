import { applyCompact } from './apply-compact.js';
import { applyEdit } from './apply-edit.js';
import { applyLocal } from './apply-local.js';
import { applyPurge } from './apply-purge.js';
import type { Command, ResultOf } from './commands.js';
import { DatabaseKeys } from './keys.js';
import type { WriteView } from './write-view.js';

/**
 * The one function that changes a shard. Given the same command and the same contents it writes the same bytes, on
 * every replica and in every replay; it reads no clock, draws no random number, and waits for nothing.
 */
export function apply<C extends Command>(command: C, view: WriteView): ResultOf<C> {
  const keys = new DatabaseKeys(command.instance);
  return view.counting(keys, command.shard, (state) => {
    state.position++;
    return applyTo(command, keys, view) as ResultOf<C>;
  });
}

function applyTo(command: Command, keys: DatabaseKeys, view: WriteView): unknown {
  switch (command.type) {
    case 'edit':
      return applyEdit(command, keys, view);
    case 'local':
      return applyLocal(command, keys, view);
    case 'purge':
      return applyPurge(command, keys, view);
    case 'compact':
      return applyCompact(command, keys, view);
  }
}
