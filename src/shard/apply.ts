import type { Appended } from '../log/log.js';
import { applyCompact } from './apply-compact.js';
import { applyEdit } from './apply-edit.js';
import { applyLocal } from './apply-local.js';
import { applyPurge } from './apply-purge.js';
import { applySplit, shardsOfSplit } from './apply-split.js';
import type { Command, EditResult, ResultOf } from './commands.js';
import type { DatabaseKeys } from './keys.js';
import { targetsOf } from './split.js';
import type { WriteView } from './write-view.js';

/**
 * The one function that changes a group. Given the same command and the same contents it writes the same bytes, on
 * every replica and in every replay; it reads no clock, draws no random number, and waits for nothing. Of many edits it
 * may apply only the first ones, as many as it gives results: then those are the command.
 */
export function apply<C extends Command>(
  command: C,
  keys: DatabaseKeys,
  view: WriteView,
): Appended<ResultOf<C>> {
  if (command.instance !== keys.instance) throw new Error('a command is of another group');
  if (command.type !== 'split' && view.shards(keys)?.isGone(command.shard))
    throw new ShardMoved(command.shard);
  const shards = shardsOf(command, keys, view);
  return view.applying(keys, shards, (position) => {
    if (shards.length > 0) view.state(keys, command.shard).position++;
    const result = applyTo(command, keys, view);
    view.applied(keys, { position, command: appliedPart(command, result) });
    return { position, result: result as ResultOf<C> };
  });
}

/** A command is for a shard that has been split: its documents are to be looked for anew. */
export class ShardMoved extends Error {
  constructor(readonly shard: number) {
    super(`the shard ${shard} has been split`);
  }
}

/** The shards whose counters a command may change: while one is split, those that it is split into too. */
function shardsOf(command: Command, keys: DatabaseKeys, view: WriteView): number[] {
  if (command.type === 'split') return shardsOfSplit(command, keys, view);
  const split = view.split(keys);
  return split?.source === command.shard && split.phase === 'copying'
    ? [command.shard, ...targetsOf(split)]
    : [command.shard];
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
    case 'split':
      return applySplit(command, keys, view);
  }
}

function appliedPart(command: Command, result: unknown): Command {
  if (command.type !== 'edit') return command;
  const { length } = result as EditResult[];
  return length === command.edits.length ? command : { ...command, edits: command.edits.slice(0, length) };
}
