import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Random, seed } from '../../test/model/random.js';
import { toBytes, type Bytes } from '../base/bytes.js';
import type { Rev } from '../revisions/rev.js';
import type { Entry } from '../storage/store.js';
import { MemoryStore } from '../storage/memory-store.js';
import { decodeCommand, encodeCommand } from './command-codec.js';
import type { Command, Edit, EditCommand, EditResult, LocalEdit } from './commands.js';
import { encodeContent } from './content.js';
import { Volume } from './volume.js';

const ids: Bytes[] = [
  ...Array.from({ length: 12 }, (_, n) => `doc-${n}`),
  '_design/d',
  toBytes('ä😀\u0001"'),
  'long'.repeat(600),
  `${'long'.repeat(600)}b`,
];
const everything = { start: '', end: '\xff' };
/** A document is in one shard of its database for good: ids are dealt out to these. */
const shardNumbers = [0, 1, 255];

/** Commands of all types. It knows revisions that exist, so that most of them find something to do. */
class Commands {
  readonly #revs = new Map<Bytes, Rev[]>();
  readonly #blobs: string[];

  constructor(private readonly random: Random) {
    this.#blobs = Array.from({ length: 6 }, () => random.hex(64));
  }

  next(): Command {
    const { random } = this;
    const place = { instance: random.pick([1, 2, 2 ** 40 - 1]), shard: random.pick(shardNumbers) };
    const idsHere = ids.filter((_, at) => shardNumbers[at % shardNumbers.length] === place.shard);
    const some = <T>(make: (id: Bytes) => T): T[] =>
      Array.from({ length: random.below(4) }, () => make(random.pick(idsHere)));
    switch (random.below(8)) {
      case 0:
        return { type: 'local', ...place, edits: some((id) => this.#local(id)) };
      case 1:
        return { type: 'purge', ...place, uuid: random.hex(32), purges: some((id) => this.#purge(id)) };
      case 2:
        return {
          type: 'compact',
          ...place,
          ids: some((id) => id),
          purged_infos_limit: random.below(9),
        };
      default:
        return {
          type: 'edit',
          ...place,
          revs_limit: random.pick([1, 3, 1_000]),
          edits: some((id) => this.#edit(id)),
          ...this.#brought(),
        };
    }
  }

  /** Takes note of a revision that a command has made. */
  learn(id: Bytes, rev: Rev): void {
    this.#revs.set(id, [...this.#revsOf(id), rev].slice(-8));
  }

  #revsOf(id: Bytes): Rev[] {
    return this.#revs.get(id) ?? [];
  }

  #edit(id: Bytes): Edit {
    const { random } = this;
    const common = { id, deleted: random.oneIn(4), body: this.#body() };
    const known = random.oneIn(5) ? undefined : this.#revsOf(id).at(-1 - random.below(2));
    if (random.oneIn(2)) return { ...common, parent: known, path: undefined };
    const hash = random.pick([random.hex(32), random.hex(3), `é${random.hex(2)}`]);
    const hashes = known === undefined ? [hash, random.hex(32)] : [hash, known.hash];
    return { ...common, parent: undefined, path: { start: (known?.pos ?? 1) + 1, hashes } };
  }

  #body(): Bytes {
    const { random } = this;
    const text = `{"n":${random.below(50)},"pad":"${'x'.repeat(random.pick([0, 10, 1_020, 3_000]))}"}`;
    if (!random.oneIn(3)) return text;
    const blob = random.pick(this.#blobs);
    const sizes = { length: 5, storedLength: 5, revpos: 1 };
    return encodeContent([{ name: 'é', type: 'text/plain', md5: 'm', gzip: false, blob, ...sizes }], text);
  }

  #brought(): Pick<EditCommand, 'small_blobs' | 'stored_blobs'> {
    const { random } = this;
    // The first half of the blobs is small: one that is here and there a file would be another blob.
    const small = this.#blobs.slice(0, 3).map((blob): [string, Bytes] => [blob, `\0\xff${blob.slice(0, 3)}`]);
    return {
      ...(random.oneIn(2) ? { small_blobs: new Map(small.slice(random.below(3))) } : {}),
      ...(random.oneIn(2) ? { stored_blobs: new Set(this.#blobs.slice(3 + random.below(3))) } : {}),
    };
  }

  #local(id: Bytes): LocalEdit {
    return { id: `_local/${id}`, rev: this.random.pick([0, 1, 300, 2 ** 40]), body: this.#body() };
  }

  #purge(id: Bytes): { id: Bytes; revs: Rev[] } {
    return { id, revs: this.#revsOf(id).slice(this.random.below(3)) };
  }
}

class Shards {
  readonly #volume = new Volume(0, new MemoryStore(), () => {});

  submit(command: Command): Promise<unknown> {
    return this.#volume.submit(command);
  }

  get contents(): Entry[] {
    return [...this.#volume.store.entries(everything)];
  }
}

/** Random commands with what became of them, and the store that they were applied to one by one. */
async function life(count: number): Promise<{ commands: Command[]; results: unknown[]; shards: Shards }> {
  const source = new Commands(new Random(seed));
  const shards = new Shards();
  const commands: Command[] = [];
  const results: unknown[] = [];
  for (let n = 0; n < count; n++) {
    const command = source.next();
    const result = await shards.submit(command);
    if (command.type === 'edit')
      for (const [at, rev] of (result as EditResult[]).entries())
        if (typeof rev === 'object') source.learn(command.edits[at]!.id, rev);
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
      assert.throws(() => decodeCommand(`${bytes}\0`), /goes on behind its end/);
    }
  });

  test('an unknown version or type is refused', () => {
    const bytes = encodeCommand(commands[0]!);
    assert.throws(() => decodeCommand(`\x02${bytes.slice(1)}`), /has version 2; this server reads 1/);
    assert.throws(() => decodeCommand(`\x01\x09${bytes.slice(2)}`), /unknown type, 9/);
  });

  test('no blobs and an empty list of them are the same', () => {
    const plain: Command = { type: 'edit', instance: 1, shard: 0, revs_limit: 1, edits: [] };
    const empty = { ...plain, small_blobs: new Map<string, Bytes>(), stored_blobs: new Set<string>() };
    assert.equal(encodeCommand(empty), encodeCommand(plain));
    assert.deepEqual(decodeCommand(encodeCommand(empty)), plain);
  });
});
