import { asBytes, fromBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { Entry, Store } from '../storage/store.js';

/** What a volume says of itself: whose it is, and its place. */
export interface VolumeStamp {
  /** The id of the catalogue that names the volume. */
  catalogue: string;
  slot: number;
  /** The generation under which the catalogue last named it; that of its original in a copy that it does not name yet. */
  generation: number;
}

/** Belongs to no database, as the instance number 0 tells. */
const stampKey: Bytes = asBytes('\0\0\0\0\0i');

/** Undefined in a volume of the first versions. */
export function readStamp(store: Pick<Store, 'get'>): VolumeStamp | undefined {
  const bytes = store.get(stampKey);
  return bytes === undefined ? undefined : (JSON.parse(fromBytes(bytes)) as VolumeStamp);
}

export const stampWrite = (stamp: VolumeStamp): Entry => ({
  key: stampKey,
  value: toBytes(JSON.stringify(stamp)),
});
