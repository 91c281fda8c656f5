import type { Command, ResultOf } from '../../src/shard/commands.js';
import type { Volume } from '../../src/shard/volume.js';

/** Appends a command to the log of its group and gives its result. */
export async function submit<C extends Command>(volume: Volume, command: C): Promise<ResultOf<C>> {
  const { result } = await volume.log(command.instance).append(command);
  return result;
}
