import { ByteReader, u48, u8, type Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';

/** What a group knows of itself as a whole; its shards have states of their own (`shard-state.ts`). */
export interface GroupState {
  /** Commands applied so far: the group's place in its log. Groups of earlier versions begin to count when opened. */
  position: number;
  /**
   * The digest of the validation functions of the database, or a token while they are changed (`validators.ts`). Empty where
   * there are none, and in groups of earlier versions until they are told.
   */
  validators: Bytes;
}

const version = 1;

export const encodeGroupState = ({ position, validators }: GroupState): Bytes =>
  u8(version) + u48(position) + validators;

export function decodeGroupState(bytes: Bytes | undefined): GroupState {
  if (bytes === undefined) return { position: 0, validators: '' };
  const reader = new ByteReader(bytes);
  if (reader.u8() !== version)
    throw new CorruptRecord('a group state has a format this version does not know');
  return { position: reader.u48(), validators: reader.rest() };
}
