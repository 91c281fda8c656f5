import assert from 'node:assert/strict';
import type { Random } from '../model/random.js';
import { expectStatus } from './client.js';
import type { Leaf } from './facts.js';
import { databaseName, type Life } from './life.js';

/** Kept in the record of the document, and as blobs of their own. */
const sizes = [100, 40_000];

/** What a new revision has: nothing, what its parent has, or new bytes as well. */
export function attachmentsFor(n: number, parent: Leaf | undefined, random: Random): object | undefined {
  const kept = (parent?.attachments ?? []).filter(() => !random.oneIn(4));
  const inputs: Record<string, object> = Object.fromEntries(kept.map((name) => [name, { stub: true }]));
  if (random.oneIn(5)) {
    const data = bytesOf(n % 5, random.pick(sizes)).toString('base64');
    inputs[`a${n}`] = { content_type: 'application/octet-stream', data };
  }
  return Object.keys(inputs).length === 0 ? undefined : inputs;
}

/** Few different contents, so that documents share blobs. */
function bytesOf(content: number, size: number): Buffer {
  return Buffer.alloc(size, `${content} of ${size} bytes, `);
}

/** Reads all attachments of a leaf to their end. */
export async function readAttachments({ client }: Life, id: string, leaf: Leaf): Promise<number> {
  for (const name of leaf.attachments) {
    const what = `${id}: the attachment ${name} of ${leaf.rev}`;
    const answer = await client.send('GET', `/${databaseName}/${id}/${name}?rev=${leaf.rev}`);
    expectStatus(answer, what, 200);
    const wanted = bytesOf(Number(name.slice(1)) % 5, answer.bytes.length);
    assert.ok(answer.bytes.equals(wanted), `${what} is not what was sent`);
  }
  return leaf.attachments.length;
}
