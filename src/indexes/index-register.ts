import { asBytes, noBytes, readU48, u48, type Bytes } from '../base/bytes.js';
import type { TimeSlice } from '../base/turns.js';
import { prefixEnd, type Store, type Write } from '../storage/store.js';
import { readOptional } from './index-damage.js';
import {
  erasureKey,
  erasurePrefix,
  IndexKeys,
  indexesPrefix,
  instanceOf,
  nextNumberKey,
  registerKey,
  registerPrefix,
  signatureOf,
} from './index-keys.js';
import { decodeIndexState } from './index-state.js';

/** Keys of a removed index that are erased in one commit. */
const eraseKeysMax = 2_000;
/** Keys of the register that are read at a time. */
const readKeysMax = 200;

/** The number of an index, or undefined where there is none. */
export function indexNumber(
  store: Pick<Store, 'get'>,
  instance: number,
  signature: string,
): number | undefined {
  const bytes = readOptional(() => store.get(registerKey(instance, signature)));
  return bytes === undefined ? undefined : readU48(bytes, 0);
}

/**
 * The bytes of the trees of all indexes, added up in slices, between which the store may be replaced by another. What is damaged is
 * left out: the reader finds out.
 */
export async function treesBytes(
  source: { readonly store: Store },
  slice: TimeSlice,
  isClosing: () => boolean,
): Promise<number> {
  let bytes = 0;
  for (let start = asBytes('i'); !isClosing();) {
    const { store } = source;
    const keys = [...store.keys({ start, end: asBytes('j'), limit: readKeysMax })];
    for (const key of keys) bytes += readOptional(() => treeBytes(store, store.get(key))) ?? 0;
    if (keys.length < readKeysMax) break;
    start = asBytes(`${keys.at(-1)!}\0`);
    if (slice.isOver) await slice.next();
  }
  return bytes;
}

function treeBytes(store: Store, number: Bytes | undefined): number {
  const state = number === undefined ? undefined : store.get(new IndexKeys(readU48(number, 0)).state);
  return state === undefined ? 0 : decodeIndexState(state).tree.bytes;
}

/** Whether records of removed indexes are still there. */
export const isErasing = (store: Store): boolean => hasKeys(store, erasurePrefix);

/** Of the indexes that have records, or are to be erased. */
function highestNumber(store: Store, first: number): number {
  const numbers = [indexesPrefix, erasurePrefix].flatMap((prefix) =>
    [...store.keys({ start: prefix, end: prefixEnd(prefix), reverse: true, limit: 1 })].map((key) =>
      readU48(key, prefix.length),
    ),
  );
  return Math.max(first - 1, ...numbers);
}

/** Whether there are indexes, of one database or of any, or some that were removed and are still to be erased. */
export function hasIndexes(store: Store, instance?: number): boolean {
  if (instance !== undefined) return hasKeys(store, registerPrefix(instance));
  return hasKeys(store, asBytes('i')) || isErasing(store);
}

function hasKeys(store: Store, prefix: Bytes): boolean {
  const [key] = store.keys({ start: prefix, end: prefixEnd(prefix), limit: 1 });
  return key !== undefined;
}

/** Which indexes there are. Only one may write at a time, the one that fills them too. */
export class IndexRegister {
  #next: number;

  constructor(
    private readonly store: Store,
    /** The first number that the store gives. */
    first: number,
  ) {
    const bytes = readOptional(() => store.get(nextNumberKey));
    this.#next = bytes === undefined ? highestNumber(store, first) + 1 : readU48(bytes, 0);
  }

  /** A number for a new index, and what must be written with its first state. */
  begin(instance: number, signature: string): { number: number; writes: Write[] } {
    const number = this.#next++;
    return {
      number,
      writes: [
        { key: nextNumberKey, value: u48(this.#next) },
        { key: registerKey(instance, signature), value: u48(number) },
      ],
    };
  }

  signatures(instance: number): string[] {
    const prefix = registerPrefix(instance);
    return [...this.store.keys({ start: prefix, end: prefixEnd(prefix) })].map(signatureOf);
  }

  /** The database and the signature of an index, by its number. */
  find(number: number): { instance: number; signature: string } | undefined {
    for (const key of this.store.keys({ start: asBytes('i'), end: asBytes('j') })) {
      if (readOptional(() => this.store.get(key)) === u48(number))
        return { instance: instanceOf(key), signature: signatureOf(key) };
    }
    return undefined;
  }

  /** Takes an index out of the register; its contents are erased later. */
  async remove(instance: number, signature: string): Promise<void> {
    const number = indexNumber(this.store, instance, signature);
    if (number === undefined) return;
    const writes: Write[] = [
      { key: registerKey(instance, signature), value: undefined },
      { key: erasureKey(number), value: noBytes },
    ];
    await this.store.write(writes).committed;
  }

  /** Erases, in small commits, what was removed. */
  async eraseRemoved(isClosing: () => boolean): Promise<void> {
    const range = { start: erasurePrefix, end: prefixEnd(erasurePrefix) };
    for (const key of [...this.store.keys(range)]) {
      const { prefix } = new IndexKeys(readU48(key, erasurePrefix.length));
      while (!isClosing() && (await this.#erase(prefix)));
      if (isClosing()) return;
      await this.store.write([{ key, value: undefined }]).committed;
    }
  }

  async #erase(prefix: Bytes): Promise<boolean> {
    const range = { start: prefix, end: prefixEnd(prefix), limit: eraseKeysMax };
    const keys = [...this.store.keys(range)];
    if (keys.length > 0) await this.store.write(keys.map((key) => ({ key, value: undefined }))).committed;
    return keys.length === eraseKeysMax;
  }
}
