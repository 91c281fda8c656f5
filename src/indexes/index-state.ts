import { asBytes, ByteReader, lengthPrefixed, u48, u8, varint, type Bytes } from '../base/bytes.js';
import { decoding } from './index-damage.js';
import type { ShardMap } from '../shard/shard-map.js';
import type { ShardState } from '../shard/shard-state.js';
import { decodeTreeState, emptyTree, encodeTreeState, type TreeState } from './tree/tree-state.js';

/** How far an index has followed one shard. */
export interface Position {
  epoch: number;
  seq: number;
  purge_seq: number;
}

/** All that an index knows of itself, written with every batch of rows. */
export interface IndexState {
  positions: readonly Position[];
  tree: TreeState;
  /** Whether the rows of many documents are noted in a record. */
  hasNoteBlocks: boolean;
}

/** With a note for each document, and with blocks of them. */
const version = 1;
const versionWithBlocks = 2;

/** Before anything was seen. */
const firstPosition: Position = Object.freeze({ epoch: 0, seq: 0, purge_seq: 0 });

export function newIndexState(shards: ShardMap, hasNoteBlocks = true): IndexState {
  return {
    positions: Array.from({ length: shards.size }, () => firstPosition),
    tree: emptyTree,
    hasNoteBlocks,
  };
}

export function encodeIndexState({ positions, tree, hasNoteBlocks }: IndexState): Bytes {
  let bytes = u8(hasNoteBlocks ? versionWithBlocks : version) + varint(positions.length);
  for (const { epoch, seq, purge_seq } of positions) bytes += u48(epoch) + u48(seq) + u48(purge_seq);
  return asBytes(bytes + lengthPrefixed(encodeTreeState(tree)));
}

export const decodeIndexState = (bytes: Bytes): IndexState => decoding(() => readIndexState(bytes));

function readIndexState(bytes: Bytes): IndexState {
  const reader = new ByteReader(bytes);
  const read = reader.u8();
  if (read !== version && read !== versionWithBlocks)
    throw new Error('an index has a format this version does not know');
  const positions: Position[] = [];
  for (let left = reader.varint(); left > 0; left--)
    positions.push({ epoch: reader.u48(), seq: reader.u48(), purge_seq: reader.u48() });
  const tree = decodeTreeState(reader.take(reader.varint()));
  return { positions, tree, hasNoteBlocks: read === versionWithBlocks };
}

/**
 * How far an index that may have met fewer splits has followed the shards there are. One that was split from another has
 * continued its sequences, and the index with it.
 */
export const followShards = ({ positions }: IndexState, shards: ShardMap): Position[] =>
  shards.inherit(positions).map((position, shard) => ({
    ...(shards.isGone(shard) ? firstPosition : position),
  }));

/** Where shards are gone, the index has followed them as far as both that they were split into: others may still ask for them. */
export const settlePositions = (positions: readonly Position[], shards: ShardMap): Position[] =>
  shards.settle(positions, (a, b) => ({
    epoch: a.epoch === b.epoch ? a.epoch : 0,
    seq: Math.min(a.seq, b.seq),
    purge_seq: Math.min(a.purge_seq, b.purge_seq),
  }));

/** Whether the index has seen all that these counters tell of. */
export function isCurrent({ positions }: IndexState, shards: readonly ShardState[]): boolean {
  return shards.every(({ epoch, seq, purge_seq }, shard) => {
    // A shard that is gone.
    if (epoch === 0) return true;
    const position = positions[shard];
    // One that came with a split that the index has not met.
    if (position === undefined) return false;
    if (position.epoch === 0) return seq === 0 && purge_seq === 0;
    return position.epoch === epoch && position.seq >= seq && position.purge_seq >= purge_seq;
  });
}

/**
 * Whether the index can go on from where it is. A shard that was put back to an earlier state has another history, and
 * purges that are no longer remembered can't be made up for.
 */
export function follows(index: IndexState, shards: ShardMap, states: readonly ShardState[]): boolean {
  return (
    index.positions.length <= shards.size &&
    followShards(index, shards).every(({ epoch, seq, purge_seq }, shard) => {
      const state = states[shard]!;
      if (epoch === 0 || state.epoch === 0) return true;
      const sameHistory = epoch === state.epoch && seq <= state.seq && purge_seq <= state.purge_seq;
      return sameHistory && purge_seq + 1 >= state.purges_from;
    })
  );
}
