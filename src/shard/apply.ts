import type { Appended } from '../log/log.js';
import { Rejection } from '../log/rejection.js';
import { applyCompact } from './apply-compact.js';
import { applyEdit } from './apply-edit.js';
import { applyLocal } from './apply-local.js';
import { applyPurge } from './apply-purge.js';
import { applySplit, shardsOfSplit } from './apply-split.js';
import { rememberedResult, rememberResult } from './command-window.js';
import type {
  Command,
  EditResult,
  FragmentCommand,
  ResultOf,
  ValidatorsCommand,
  WholeCommand,
} from './commands.js';
import { applyFragment, assemble, dropFragments } from './fragments.js';
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
  if (command.instance !== keys.instance) throw new Rejection('a command is of another group');
  const known = command.id === undefined ? undefined : rememberedResult(keys, view, command.id);
  if (known !== undefined) return known as Appended<ResultOf<C>>;
  if (command.type !== 'close' && view.group(keys).closed) throw new GroupClosed(keys.instance);
  const meant: WholeCommand | FragmentCommand =
    command.type === 'assembled'
      ? assemble(command, keys, view)
      : (command as WholeCommand | FragmentCommand);
  const shards = shardsOf(meant, keys, view);
  return view.applying(keys, shards, (position) => {
    if (shards.length > 0) view.state(keys, meant.shard).position++;
    if (command.type === 'assembled') dropFragments(command, keys, view);
    const result = applyTo(meant, keys, view);
    if (command.id !== undefined) rememberResult(keys, view, command.id, position, [meant.type, result]);
    view.applied(keys, { position, command: appliedPart(command, result) });
    return { position, result: result as ResultOf<C> };
  });
}

/** A command is for a shard that has been split: its documents are to be looked up again. */
export class ShardMoved extends Rejection {
  constructor(readonly shard: number) {
    super(`the shard ${shard} has been split`);
  }
}

/** The shards of a group are moving to others, or have moved: the command has had no effect. */
export class GroupClosed extends Rejection {
  constructor(readonly group: number) {
    super(`the group ${group} takes no commands: its shards are moving to others`);
  }
}

/** The shards whose counters a command may change: while one is split, those that it is split into too. */
function shardsOf(command: WholeCommand | FragmentCommand, keys: DatabaseKeys, view: WriteView): number[] {
  const { type, shard } = command;
  if (type === 'split') return shardsOfSplit(command, keys, view);
  if (type === 'validators' || type === 'fragment' || type === 'close') return [];
  if (view.shards(keys)?.isGone(shard)) throw new ShardMoved(shard);
  const split = view.split(keys);
  return split?.source === shard && split.phase === 'copying' ? [shard, ...targetsOf(split)] : [shard];
}

function applyTo(command: WholeCommand | FragmentCommand, keys: DatabaseKeys, view: WriteView): unknown {
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
    case 'validators':
      return applyValidators(command, keys, view);
    case 'close':
      view.group(keys).closed = command.closed;
      return undefined;
    case 'fragment':
      applyFragment(command, keys, view);
  }
}

function applyValidators(
  { expected, value }: ValidatorsCommand,
  keys: DatabaseKeys,
  view: WriteView,
): boolean {
  const group = view.group(keys);
  if (expected !== undefined && expected !== group.validators) return false;
  group.validators = value;
  return true;
}

function appliedPart(command: Command, result: unknown): Command {
  if (command.type !== 'edit') return command;
  const { length } = result as EditResult[];
  return length === command.edits.length ? command : { ...command, edits: command.edits.slice(0, length) };
}
