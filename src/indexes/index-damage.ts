import { Unavailable } from '../base/errors.js';

/** A record of an index is lost or does not decode. The index is discarded; the request may be repeated. */
export class IndexDamage extends Unavailable {
  constructor(what: string) {
    super(`The index is damaged and will be built anew; try again. (${what})`);
    this.name = 'IndexDamage';
  }
}

/** How stores of indexes are opened: a record whose checksum is wrong is damage of an index. */
export const indexStoreOptions = { damage: (what: string): Error => new IndexDamage(what) };

/** Reads a record without which an index is as good as not there. */
export function readOptional<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof IndexDamage) return undefined;
    throw error;
  }
}

/** Reads a record of an index. */
export function decoding<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new IndexDamage((error as Error).message);
  }
}
