import { asBytes, ByteReader, noBytes, u48, u8, type Bytes } from '../base/bytes.js';
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
  /** Whether it takes no commands: its shards are moving to other groups, and it does not change any more. */
  closed: boolean;
}

const version = { open: 1, closed: 2 } as const;

export const encodeGroupState = ({ position, validators, closed }: GroupState): Bytes =>
  asBytes(u8(closed ? version.closed : version.open) + u48(position) + validators);

export function decodeGroupState(bytes: Bytes | undefined): GroupState {
  if (bytes === undefined) return { position: 0, validators: noBytes, closed: false };
  const reader = new ByteReader(bytes);
  const found = reader.u8();
  if (found !== version.open && found !== version.closed)
    throw new CorruptRecord('a group state has a format this version does not know');
  return { position: reader.u48(), validators: reader.rest(), closed: found === version.closed };
}
