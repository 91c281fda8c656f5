import { Unavailable } from '../base/errors.js';
import { apply } from './apply.js';
import type { Command, EditResult } from './commands.js';
import { DatabaseKeys } from './keys.js';
import type { Work } from './placed-steps.js';
import type { WriteView } from './write-view.js';

/** How a command from a stream is applied: many edits in parts, each of which is enough for one turn. */
export function workOf(command: Command, view: WriteView): Work {
  const keys = new DatabaseKeys(command.instance);
  if (command.type !== 'edit' || command.edits.length === 1)
    return () => ({ result: apply(command, keys, view) });
  const results: EditResult[] = [];
  let isWhole = false;
  return (done) => {
    if (done === 0) isWhole = true;
    results.length = done;
    const rest = done === 0 ? command : { ...command, edits: command.edits.slice(done) };
    const { position, result } = apply(rest, keys, view);
    for (const each of result) results.push(each);
    if (results.length < command.edits.length) return { done: results.length };
    if (!isWhole)
      return { rejected: new Unavailable('The write was applied; its result is not known any more.') };
    return { result: { position, result: results } };
  };
}
