import { asBytes, readU48, u32, u48, u8, type Bytes } from '../base/bytes.js';
import { idKey } from '../shard/keys.js';

/**
 * The keys of an index store. An index has a number of its own, which is never used again, so that what is left of a
 * removed one affects no other. `docs/formats/indexes.md` describes them all.
 *
 *   m                                    the number of the next index
 *   i instance(5) signature(16)          the number of an index
 *   e number(6)                          an index that is to be erased
 *   x number(6) s                        its state
 *   x number(6) t …                      its tree
 *   x number(6) n idKey                  the rows of the documents from this one on
 *   x number(6) d idKey                  those of one document, in search indexes and in those of earlier versions
 */
export const nextNumberKey: Bytes = asBytes('m');

export const registerPrefix = (instance: number): Bytes =>
  asBytes('i' + u8(Math.floor(instance / 0x1_0000_0000)) + u32(instance));

export const registerKey = (instance: number, signature: string): Bytes =>
  asBytes(registerPrefix(instance) + Buffer.from(signature, 'hex').toString('latin1'));

export const instanceOf = (key: Bytes): number => Buffer.from(key.slice(1, 6), 'latin1').readUIntBE(0, 5);

export const signatureOf = (key: Bytes): string => Buffer.from(key.slice(6), 'latin1').toString('hex');

export const erasurePrefix: Bytes = asBytes('e');
export const erasureKey = (number: number): Bytes => asBytes(erasurePrefix + u48(number));

export const indexesPrefix: Bytes = asBytes('x');

/** The number of the index that a key of it begins with. */
export const numberOf = (key: Bytes): number => readU48(key, 1);

/** Numbers of indexes in different stores differ, so that a number says where an index is. */
const numbersOfSlot = 2 ** 40;
export const firstNumberOf = (slot: number): number => slot * numbersOfSlot + 1;
export const slotOfNumber = (number: number): number => Math.floor(number / numbersOfSlot);

export class IndexKeys {
  readonly prefix: Bytes;
  readonly state: Bytes;
  readonly tree: Bytes;
  readonly docs: Bytes;
  readonly notes: Bytes;

  constructor(readonly number: number) {
    this.prefix = asBytes(indexesPrefix + u48(number));
    this.state = asBytes(this.prefix + 's');
    this.tree = asBytes(this.prefix + 't');
    this.docs = asBytes(this.prefix + 'd');
    this.notes = asBytes(this.prefix + 'n');
  }

  doc(id: Bytes): Bytes {
    return asBytes(this.docs + idKey(id));
  }
}
