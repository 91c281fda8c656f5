import { CorruptRecord } from '../base/corrupt-record.js';
import { asBytes, ByteReader, u48, u8, type Bytes } from '../base/bytes.js';

/** The counters of one shard, kept in one record and written with every commit that changes them. */
export interface ShardState {
  /** Commands applied so far: the shard's place in its log. */
  position: number;
  /** The last sequence given to a change. */
  seq: number;
  /** The last sequence given to a purge. */
  purge_seq: number;
  /** The oldest purge still remembered. */
  purges_from: number;
  doc_count: number;
  doc_del_count: number;
  /** Records in the table of deleted documents; differs from the counter above where a purge left it alone. */
  tombstones: number;
  /** Keys and values, and the stored bytes of attachments. */
  stored_bytes: number;
  /** The attachments' part of that. */
  attachment_bytes: number;
  /** The part of that which compaction would remove: bodies of superseded revisions. */
  obsolete_bytes: number;
  /** JSON text of all leaf revisions, and the plain bytes of attachments. */
  external_bytes: number;
  /** Changes when the shard was put back to an earlier state, so that old sequences are recognised. */
  epoch: number;
}

const fields = [
  'position',
  'seq',
  'purge_seq',
  'purges_from',
  'doc_count',
  'doc_del_count',
  'tombstones',
  'stored_bytes',
  'attachment_bytes',
  'obsolete_bytes',
  'external_bytes',
  'epoch',
] as const satisfies readonly (keyof ShardState)[];

const version = 1;

function emptyState(): ShardState {
  return {
    position: 0,
    seq: 0,
    purge_seq: 0,
    purges_from: 1,
    doc_count: 0,
    doc_del_count: 0,
    tombstones: 0,
    stored_bytes: 0,
    attachment_bytes: 0,
    obsolete_bytes: 0,
    external_bytes: 0,
    epoch: 1,
  };
}

/** Stands in the place of a shard that was split: it has nothing, and no epoch. */
export const goneState = (): ShardState => ({ ...emptyState(), epoch: 0 });

/**
 * Shards that were split from one another share its bytes among them, and only their sum tells something: one of them may
 * have given back more than it has counted. Such fields have a sign, the highest bit of the six bytes.
 */
const signed: ReadonlySet<keyof ShardState> = new Set([
  'stored_bytes',
  'attachment_bytes',
  'obsolete_bytes',
  'external_bytes',
]);
const signedRange = 2 ** 48;

export function encodeState(state: ShardState): Bytes {
  let bytes: string = u8(version);
  for (const field of fields) {
    const value = state[field];
    bytes += u48(value >= 0 ? value : signed.has(field) ? signedRange + value : 0);
  }
  return asBytes(bytes);
}

export function decodeState(bytes: Bytes | undefined): ShardState {
  const state = emptyState();
  if (bytes === undefined) return state;
  const reader = new ByteReader(bytes);
  if (reader.u8() !== version)
    throw new CorruptRecord('a shard state has a format this version does not know');
  for (const field of fields) {
    const value = reader.u48();
    state[field] = signed.has(field) && value >= signedRange / 2 ? value - signedRange : value;
  }
  return state;
}
