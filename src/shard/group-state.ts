import { ByteReader, u48, u8, type Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';

/** What a group knows of itself as a whole; its shards have states of their own (`shard-state.ts`). */
export interface GroupState {
  /** Commands applied so far: the group's place in its log. Groups of earlier versions begin to count when opened. */
  position: number;
}

const version = 1;

export const encodeGroupState = ({ position }: GroupState): Bytes => u8(version) + u48(position);

export function decodeGroupState(bytes: Bytes | undefined): GroupState {
  if (bytes === undefined) return { position: 0 };
  const reader = new ByteReader(bytes);
  if (reader.u8() !== version)
    throw new CorruptRecord('a group state has a format this version does not know');
  return { position: reader.u48() };
}
