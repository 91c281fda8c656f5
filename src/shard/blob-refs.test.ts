import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { asBytes } from '../base/bytes.js';
import { submit } from '../../test/support/submit.js';
import { MemoryStore } from '../storage/memory-store.js';
import { fromHex, smallBlob } from './blob-record.js';
import type { EditCommand } from './commands.js';
import { encodeContent } from './content.js';
import { DatabaseKeys } from './keys.js';
import { Volume } from './volume.js';

const bytes = 'the bytes of an attachment';
const blob = createHash('sha256').update(bytes).digest('hex');
const attachment = {
  name: 'a',
  type: 't',
  revpos: 1,
  md5: 'm',
  length: bytes.length,
  storedLength: bytes.length,
  gzip: false,
  blob,
};
const blobKey = new DatabaseKeys(1).blob(fromHex(blob));
const withAttachment = (n: number): string => encodeContent([attachment], asBytes(`{"n":${n}}`));

/** Saves one version after the other; only the first brings the bytes, the others have stubs. */
async function lifeOf(bodies: readonly string[], revs_limit: number): Promise<Volume> {
  const volume = new Volume(0, new MemoryStore(), () => {});
  let parent: EditCommand['edits'][number]['parent'];
  for (const [at, body] of bodies.entries()) {
    const edits = [{ id: asBytes('doc'), parent, path: undefined, deleted: false, body: asBytes(body) }];
    const brought = at === 0 ? { small_blobs: new Map([[blob, asBytes(bytes)]]) } : {};
    const [saved] = await submit(volume, {
      type: 'edit',
      instance: 1,
      shard: 0,
      revs_limit,
      edits,
      ...brought,
    });
    assert.ok(typeof saved === 'object');
    parent = saved;
  }
  return volume;
}

for (const limit of [1, 2, 3, 1_000]) {
  test(`an attachment outlives edits that keep it by a stub, with ${limit} revisions kept`, async () => {
    const volume = await lifeOf(
      [withAttachment(1), withAttachment(2), withAttachment(3), withAttachment(4)],
      limit,
    );
    assert.equal(smallBlob(volume.store.get(blobKey)), bytes);
  });
}

test('an attachment goes with the last kept revision that has it', async () => {
  const volume = await lifeOf([withAttachment(1), '{"n":2}', '{"n":3}'], 2);
  assert.equal(volume.store.get(blobKey), undefined);
});
