import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { commandBytesMax } from '../../src/log/log.js';
import { encodeCommand } from '../../src/shard/command-codec.js';
import type { EditCommand, FragmentCommand } from '../../src/shard/commands.js';
import { encodeContent } from '../../src/shard/content.js';
import { tables } from '../../src/shard/keys.js';
import { Volume } from '../../src/shard/volume.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { edit, edits, everyWay, instance, keys, keysOf, type Open } from './group-scene.js';

everyWay('large commands', largeCommands);
everyWay('large bulks', largeBulks);

function largeCommands(open: Open, encoded: boolean): void {
  const large = 'x'.repeat(3 * commandBytesMax);

  test('a document that is larger than a command may be is stored', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    const entries = log.follow(0);
    const command = edits([edit('a', undefined, `{"x":"${large}"}`)], { id: asBytes('large') });
    const { position, result } = await log.append(command);
    assert.equal(typeof result[0], 'object');
    assert.deepEqual(keysOf(volume, tables.fragments), []);
    assert.equal(volume.store.get(keys.body(0, 1))?.length, large.length + 8);
    for (let at = 1; encoded && at <= position; at++) {
      const { command: carried } = ((await entries.next()) as { value: { command: EditCommand } }).value;
      assert.ok(encodeCommand(carried).length <= commandBytesMax);
    }
    assert.deepEqual(await log.append(command), { position, result }, 'and is there once');
    await volume.close();
  });

  test('so are many small attachments of one document, and a large local document', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    const blobs = Array.from({ length: 40 }, (_, n) => n.toString(16).padStart(64, '0'));
    const sizes = { length: 30_000, storedLength: 30_000, revpos: 1 };
    const attachments = blobs.map((blob) => ({
      name: blob,
      type: 't',
      md5: blob,
      gzip: false,
      blob,
      ...sizes,
    }));
    const small_blobs = new Map(blobs.map((blob) => [blob, asBytes('b'.repeat(30_000))]));
    const list = attachments.map((each, n) => edit(`d${n}`, undefined, encodeContent([each], asBytes('{}'))));
    list.push(edit('all', undefined, encodeContent(attachments, asBytes('{}'))));
    const { result } = await log.append(edits(list, { small_blobs }));
    assert.ok(result.every((each) => typeof each === 'object'));
    await log.append({
      type: 'local',
      instance,
      shard: 0,
      edits: [{ id: asBytes('_local/l'), rev: 1, body: asBytes(`{"x":"${large}"}`) }],
    });
    assert.ok(volume.store.get(keys.local(asBytes('_local/l')))!.length > large.length);
    assert.deepEqual(keysOf(volume, tables.fragments), []);
    await volume.close();
  });
}

function largeBulks(open: Open): void {
  test('a bulk is divided, with a result for each document', async (t) => {
    const volume = open(t)();
    const log = volume.log(instance);
    const entries = log.follow(0);
    const bodies = Array.from({ length: 60 }, (_, n) => 'y'.repeat(n * 3_000));
    const list = bodies.map((pad, n) =>
      edit(`d${n}`, n % 7 === 3 ? { pos: 1, hash: 'x' } : undefined, `{"p":"${pad}"}`),
    );
    const { position, result } = await log.append(edits(list));
    assert.deepEqual(
      result.map((each) => typeof each === 'object'),
      list.map(({ parent }) => parent === undefined),
    );
    for (let at = 1; at <= position; at++) {
      const { command } = ((await entries.next()) as { value: { command: EditCommand } }).value;
      assert.ok(encodeCommand(command).length <= commandBytesMax);
    }
    await volume.close();
  });
}

test('fragments that nobody puts together are given up for newer ones', async () => {
  const volume = new Volume(0, new MemoryStore(), () => {});
  const log = volume.log(instance);
  const bytes = asBytes('f'.repeat(500_000));
  const fragment = (upload: Bytes, at: number): FragmentCommand => ({
    type: 'fragment',
    instance,
    shard: 0,
    upload,
    at,
    bytes,
  });
  await log.append(fragment(asBytes('lost'), 0));
  for (let at = 0; at < 280; at++) await log.append(fragment(asBytes('newer'), at));
  assert.equal(volume.store.get(keys.fragment(asBytes('lost'), 0)), undefined);
  assert.ok(volume.store.get(keys.fragment(asBytes('newer'), 0)) !== undefined);
  const assembled = { type: 'assembled', instance, shard: 0, upload: asBytes('lost'), fragments: 1 } as const;
  await assert.rejects(log.append(assembled), /missing/);
  await volume.close();
});
