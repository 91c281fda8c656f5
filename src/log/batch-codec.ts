import {
  ByteReader,
  fromBytes,
  lengthPrefixed,
  toBytes,
  u48,
  u8,
  varint,
  type Bytes,
} from '../base/bytes.js';
import type { OriginMark } from './stream-place.js';

/**
 * A message of a stream: commands that a node sends together, and what replicas have to know of the node.
 *
 *   version(1) epoch(text) node(text) incarnation(6) counter(6) seq(6) hash(16) catalogue(6) count(varint) command(text)…
 */
export interface Batch {
  epoch: string;
  origin: { name: string } & OriginMark;
  /** The sender's own place when it sent this, and its hash over the stream up to there. */
  seq: number;
  hash: Bytes;
  /** The position of the catalogue that the sender had applied: where less is applied, groups may be unknown. */
  catalogue: number;
  commands: readonly Bytes[];
}

const version = 1;
const hashBytes = 16;

export function encodeBatch({ epoch, origin, seq, hash, catalogue, commands }: Batch): Buffer {
  const head =
    u8(version) +
    lengthPrefixed(toBytes(epoch)) +
    lengthPrefixed(toBytes(origin.name)) +
    u48(origin.incarnation) +
    u48(origin.counter) +
    u48(seq) +
    hash +
    u48(catalogue) +
    varint(commands.length);
  return Buffer.from(head + commands.map(lengthPrefixed).join(''), 'latin1');
}

export function decodeBatch(message: Buffer): Batch {
  const reader = new ByteReader(message.latin1Slice(0, message.length));
  const found = reader.u8();
  if (found !== version) throw new Error(`a message has version ${found}; this server reads ${version}`);
  const epoch = readText(reader);
  const name = readText(reader);
  const origin = { name, incarnation: reader.u48(), counter: reader.u48() };
  const seq = reader.u48();
  const hash = reader.take(hashBytes);
  const catalogue = reader.u48();
  const commands: Bytes[] = [];
  for (let left = reader.varint(); left > 0; left--) commands.push(reader.take(reader.varint()));
  if (!reader.done) throw new Error('a message is damaged: it goes on behind its end');
  return { epoch, origin, seq, hash, catalogue, commands };
}

const readText = (reader: ByteReader): string => fromBytes(reader.take(reader.varint()));
