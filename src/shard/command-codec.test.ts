import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RandomCommands } from '../../test/log/random-commands.js';
import { submit } from '../../test/support/submit.js';
import { Random, seed } from '../../test/model/random.js';
import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import type { Entry } from '../storage/store.js';
import { MemoryStore } from '../storage/memory-store.js';
import { decodeCommand, encodeCommand } from './command-codec.js';
import type { Command } from './commands.js';
import { Volume } from './volume.js';

const everything = { start: noBytes, end: asBytes('\xff') };
class Shards {
  readonly #volume = new Volume(0, new MemoryStore(), () => {});

  submit(command: Command): Promise<unknown> {
    return submit(this.#volume, command);
  }

  get contents(): Entry[] {
    return [...this.#volume.store.entries(everything)];
  }
}

/** Random commands with what became of them, and the store that they were applied to one by one. */
async function life(count: number): Promise<{ commands: Command[]; results: unknown[]; shards: Shards }> {
  const source = new RandomCommands(new Random(seed));
  const shards = new Shards();
  const commands: Command[] = [];
  const results: unknown[] = [];
  for (let n = 0; n < count; n++) {
    const command = source.next();
    const result = await shards.submit(command);
    source.learn(command, result);
    commands.push(command);
    results.push(result);
  }
  return { commands, results, shards };
}

describe(`commands as bytes (seed ${seed})`, async () => {
  const { commands, results, shards } = await life(3_000);

  test('random commands find something to do', () => {
    const count = (type: Command['type'], isDone: (result: unknown) => boolean): number =>
      commands.filter((command, at) => command.type === type && isDone(results[at])).length;
    const someOf = (result: unknown): boolean => (result as (Rev | Rev[] | undefined)[]).flat().some(Boolean);
    assert.ok(count('edit', someOf) > 500);
    assert.ok(count('purge', someOf) > 20);
  });

  test('applying them again, in other batches, writes the same bytes', async () => {
    const again = new Shards();
    assert.deepEqual(await Promise.all(commands.map((command) => again.submit(command))), results);
    assert.deepEqual(again.contents, shards.contents);
  });

  test('applying what was read back from bytes writes the same bytes', async () => {
    const again = new Shards();
    for (const [at, command] of commands.entries()) {
      const bytes = encodeCommand(command);
      assert.match(bytes, /^[\0-\xff]*$/);
      assert.deepEqual(await again.submit(decodeCommand(bytes)), results[at]);
    }
    assert.deepEqual(again.contents, shards.contents);
  });

  test('what is read back is the command', () => {
    for (const command of commands) assert.deepEqual(decodeCommand(encodeCommand(command)), command);
  });

  test('a command that was cut short, or has something behind its end, is refused', () => {
    for (const type of ['edit', 'local', 'purge', 'compact']) {
      const bytes = encodeCommand(commands.find((command) => command.type === type)!);
      for (let length = 0; length < bytes.length; length++)
        assert.throws(() => decodeCommand(bytes.slice(0, length)), `${type}, ${length} bytes`);
      assert.throws(() => decodeCommand(asBytes(`${bytes}\0`)), /goes on behind its end/);
    }
  });

  test('an unknown version or type is refused', () => {
    const bytes = encodeCommand(commands[0]!);
    assert.throws(
      () => decodeCommand(asBytes(`\x02${bytes.slice(1)}`)),
      /has version 2; this server reads 1/,
    );
    assert.throws(() => decodeCommand(asBytes(`\x01\x1f${bytes.slice(2)}`)), /unknown type, 31/);
  });

  test('no blobs and an empty list of them are the same', () => {
    const plain: Command = { type: 'edit', instance: 1, shard: 0, revs_limit: 1, edits: [] };
    const empty = { ...plain, small_blobs: new Map<string, Bytes>(), stored_blobs: new Set<string>() };
    assert.equal(encodeCommand(empty), encodeCommand(plain));
    assert.deepEqual(decodeCommand(encodeCommand(empty)), plain);
  });
});
