import { createHash } from 'node:crypto';
import {
  asBytes,
  ByteReader,
  fromBytes,
  lengthPrefixed,
  toBytes,
  u48,
  u8,
  varint,
  type Bytes,
} from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';

/**
 * Where a replica is in a stream: `docs/formats/stream.md`. A *head* is what is known behind a whole message; a place is a
 * head and how much of the next message is applied.
 */
export interface StreamHead {
  /** The epoch of the stream. */
  epoch: string;
  /** The last message that is applied as a whole. */
  seq: number;
  /** Over all messages up to it. */
  hash: Bytes;
  /** The last message of each node, by the node's name. */
  origins: ReadonlyMap<string, OriginMark>;
}

export interface StreamPlace {
  head: StreamHead;
  /** Commands of the next message that are applied. */
  index: number;
  /** Edits of the command after them that are applied. */
  done: number;
}

/** Names a message of a node: messages of an earlier incarnation, or with a lower counter, are repetitions. */
export interface OriginMark {
  incarnation: number;
  counter: number;
}

const version = 1;
const hashBytes = 16;

export const firstHead = (epoch: string): StreamHead => ({
  epoch,
  seq: 0,
  hash: asBytes('\0'.repeat(hashBytes)),
  origins: new Map(),
});

/** The head behind the next message. `origin` is left out for a message that has no effect. */
export function nextHead(
  head: StreamHead,
  message: Buffer,
  origin: ({ name: string } & OriginMark) | undefined,
): StreamHead {
  const digest = createHash('sha256').update(head.hash, 'latin1').update(message).digest();
  const hash = digest.latin1Slice(0, hashBytes);
  if (origin === undefined) return { ...head, seq: head.seq + 1, hash };
  const { name, incarnation, counter } = origin;
  const origins = new Map(head.origins).set(name, { incarnation, counter });
  return { ...head, seq: head.seq + 1, hash, origins };
}

/** The head of a node whose stores are at different places: what it has is a history of its own. */
export function partialHead(head: StreamHead, node: string): StreamHead {
  const digest = createHash('sha256').update(head.hash, 'latin1').update(`partial ${node}`).digest();
  return { ...head, hash: asBytes(digest.latin1Slice(0, hashBytes)) };
}

/** Whether a message of that mark comes after all that are known of its node. */
export function isNew(known: OriginMark | undefined, { incarnation, counter }: OriginMark): boolean {
  if (known === undefined || incarnation > known.incarnation) return true;
  return incarnation === known.incarnation && counter > known.counter;
}

export function encodeHead({ epoch, seq, hash, origins }: StreamHead): Bytes {
  let bytes = u8(version) + lengthPrefixed(toBytes(epoch)) + u48(seq) + hash + varint(origins.size);
  for (const [name, { incarnation, counter }] of origins)
    bytes += lengthPrefixed(toBytes(name)) + u48(incarnation) + u48(counter);
  return asBytes(bytes);
}

export const encodePlace = (head: Bytes, index: number, done: number): Bytes =>
  asBytes(head + varint(index) + varint(done));

export function decodePlace(bytes: Bytes): StreamPlace {
  const reader = new ByteReader(bytes);
  if (reader.u8() !== version) throw new CorruptRecord('a place in a stream has an unknown format');
  const epoch = fromBytes(reader.take(reader.varint()));
  const seq = reader.u48();
  const hash = reader.take(hashBytes);
  const origins = new Map<string, OriginMark>();
  for (let left = reader.varint(); left > 0; left--) {
    const name = fromBytes(reader.take(reader.varint()));
    origins.set(name, { incarnation: reader.u48(), counter: reader.u48() });
  }
  return { head: { epoch, seq, hash, origins }, index: reader.varint(), done: reader.varint() };
}
