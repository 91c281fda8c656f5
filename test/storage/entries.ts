import { asBytes } from '../../src/base/bytes.js';
import type { Bytes, Entry, Store, Write } from '../../src/storage/store.js';

/** A test of a store that is new and empty. */
export type Holds = (what: string, run: (store: Store) => Promise<void>) => void;

export const keyBytesMax = 1978;
/** But for what is the store's own. */
export const everything = { start: asBytes('\0\0\0'), end: asBytes('\xff'.repeat(keyBytesMax)) };
export const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1');

export const put = (store: Store, writes: readonly Write[]): Promise<void> => store.write(writes).flushed;

export const entriesOf = (store: Store): Entry[] => [...store.entries(everything)].map(plain);

/** An entry with its two members alone, whatever else a store gives. */
export const plain = ({ key, value }: Entry): Entry => ({ key, value });

export const keyOf = ({ key }: Entry): Bytes => key;

/** Keys that tell their place: k000, k001, …. */
export const numbered = (count: number): Entry[] =>
  Array.from({ length: count }, (_, n) => ({
    key: asBytes(`k${String(n).padStart(3, '0')}`),
    value: asBytes(`v${n}`),
  }));
