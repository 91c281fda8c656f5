import assert from 'node:assert/strict';
import type { Bytes } from '../../src/base/bytes.js';
import { contentOf, readPlain } from '../../src/documents/attachments/read-attachment.js';
import { parseRev } from '../../src/revisions/rev.js';
import type { AttachmentInput } from '../../src/shard/document-input.js';
import type { Random } from '../model/random.js';
import type { Leaf } from './facts.js';
import type { Life } from './life.js';

/** Kept in the record of the document, and as blobs of their own. */
const sizes = [100, 40_000];

/** What a new revision has: nothing, what its parent has, or new bytes as well. */
export function attachmentsFor(
  n: number,
  parent: Leaf | undefined,
  random: Random,
): AttachmentInput[] | undefined {
  const kept = (parent?.attachments ?? []).filter(() => !random.oneIn(4));
  const inputs: AttachmentInput[] = kept.map((name) => ({ name, revpos: undefined, kind: 'stub' }));
  if (random.oneIn(5)) {
    const data = bytesOf(n % 5, random.pick(sizes));
    const name = `a${n}`;
    inputs.push({ name, revpos: undefined, kind: 'data', type: 'application/octet-stream', data });
  }
  return inputs.length === 0 ? undefined : inputs;
}

/** Few different contents, so that documents share blobs. */
function bytesOf(content: number, size: number): Buffer {
  return Buffer.alloc(size, `${content} of ${size} bytes, `);
}

/** Reads all attachments of a leaf to their end. */
export async function readAttachments({ registry, database }: Life, id: Bytes, rev: string): Promise<number> {
  const { attachments } = contentOf(database, id, parseRev(rev));
  for (const attachment of attachments) {
    const chunks: Buffer[] = [];
    for await (const chunk of await readPlain(registry, database, id, attachment)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const wanted = bytesOf(Number(attachment.name.slice(1)) % 5, attachment.length);
    assert.ok(
      bytes.equals(wanted),
      `${id}: the attachment ${attachment.name} of ${rev} is not what was sent`,
    );
  }
  return attachments.length;
}
