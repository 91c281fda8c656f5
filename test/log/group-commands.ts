import { asBytes } from '../../src/base/bytes.js';
import type { Command, EditCommand, Results } from '../../src/shard/commands.js';
import { Volume } from '../../src/shard/volume.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Random, seed } from '../model/random.js';
import type { LogScene } from './log-suite.js';
import { RandomCommands } from './random-commands.js';

/** The group that the commands are for. */
export const instance = 7;

const commands = await lives(300);

/** Commands name revisions that earlier ones have made: they are found out by applying them once. */
async function lives(count: number): Promise<Command[]> {
  const source = new RandomCommands(new Random(seed), [instance]);
  const log = new Volume(0, new MemoryStore(), () => {}).log(instance);
  const made: Command[] = [];
  while (made.length < count) {
    const command = source.next();
    source.learn(command, (await log.append(command)).result);
    made.push(command);
  }
  return made;
}

const large: EditCommand = {
  type: 'edit',
  instance,
  shard: 0,
  revs_limit: 10,
  edits: Array.from({ length: 2_500 }, (_, n) => ({
    id: asBytes(`d${n % 2_000}`),
    parent: undefined,
    path: { start: 2, hashes: [`${n}a`, `${n}b`] },
    deleted: false,
    body: asBytes(`{"n":${n}}`),
  })),
};

/** What a scene of the log of a group has beside the log. */
export const groupScene: Omit<LogScene<Command, Results>, 'open'> = {
  commands: (count) => commands.slice(0, count),
  rejected: { type: 'compact', instance: instance + 1, shard: 0, ids: [], purged_infos_limit: 1 },
  large: {
    command: large,
    join: (parts) => ({ ...large, edits: parts.flatMap((part) => (part as EditCommand).edits) }),
  },
};
