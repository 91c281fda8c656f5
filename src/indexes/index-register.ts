import { asBytes, noBytes, readU48, u48, type Bytes } from '../base/bytes.js';
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

/** Keys of a removed index that are erased in one commit. */
const eraseKeysMax = 2_000;

/** The number of an index, or undefined where there is none. */
export function indexNumber(
  store: Pick<Store, 'get'>,
  instance: number,
  signature: string,
): number | undefined {
  const bytes = readOptional(() => store.get(registerKey(instance, signature)));
  return bytes === undefined ? undefined : readU48(bytes, 0);
}

/** Of the indexes that have records, or are to be erased. */
function highestNumber(store: Store): number {
  const numbers = [indexesPrefix, erasurePrefix].flatMap((prefix) =>
    [...store.keys({ start: prefix, end: prefixEnd(prefix), reverse: true, limit: 1 })].map((key) =>
      readU48(key, prefix.length),
    ),
  );
  return Math.max(0, ...numbers);
}

/** Which indexes there are. Only one may write at a time, the one that fills them too. */
export class IndexRegister {
  #next: number;

  constructor(private readonly store: Store) {
    const bytes = readOptional(() => store.get(nextNumberKey));
    this.#next = bytes === undefined ? highestNumber(store) + 1 : readU48(bytes, 0);
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
