import type { Bytes } from '../base/bytes.js';
import type { Command, ResultOf } from '../shard/commands.js';

type Submit = <C extends Command>(command: C) => Promise<ResultOf<C>>;

/** Sends what was meant for a shard that has been split to those that have its documents now. */
export async function sendAnew<C extends Command>(
  command: C,
  shardOf: (id: Bytes) => number,
  submit: Submit,
): Promise<ResultOf<C>> {
  return (await sendParts(command, shardOf, submit)) as ResultOf<C>;
}

async function sendParts(
  command: Command,
  shardOf: (id: Bytes) => number,
  submit: Submit,
): Promise<ResultOf<Command>> {
  switch (command.type) {
    case 'edit':
      return await eachShard(
        command.edits,
        ({ id }) => shardOf(id),
        (shard, edits) => submit({ ...command, shard, edits }),
      );
    case 'purge':
      return await eachShard(
        command.purges,
        ({ id }) => shardOf(id),
        (shard, purges) => submit({ ...command, shard, purges }),
      );
    case 'local':
      await eachShard(
        command.edits,
        ({ id }) => shardOf(id),
        async (shard, edits) => {
          await submit({ ...command, shard, edits });
          return [];
        },
      );
      return undefined;
    case 'compact':
      await eachShard(command.ids, shardOf, async (shard, ids) => {
        await submit({ ...command, shard, ids });
        return [];
      });
      return undefined;
    case 'split':
    case 'validators':
    case 'close':
    case 'fragment':
    case 'assembled':
      throw new Error(`a command of type ${command.type} was sent to another shard`);
  }
}

/** Divides a list among shards, and puts the results in its order. */
async function eachShard<T, R>(
  items: readonly T[],
  shardOf: (item: T) => number,
  submit: (shard: number, items: T[]) => Promise<R[]>,
): Promise<R[]> {
  const parts = new Map<number, number[]>();
  for (const [at, item] of items.entries()) {
    const shard = shardOf(item);
    const part = parts.get(shard);
    if (part === undefined) parts.set(shard, [at]);
    else part.push(at);
  }
  const results = new Array<R>(items.length);
  await Promise.all(
    [...parts].map(async ([shard, places]) => {
      const part = await submit(
        shard,
        places.map((at) => items[at]!),
      );
      for (const [i, at] of places.entries()) results[at] = part[i]!;
    }),
  );
  return results;
}
