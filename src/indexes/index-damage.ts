import { Unavailable } from '../base/errors.js';

/** A record of an index is lost or does not decode. The index is discarded; who asked for it may ask again. */
export class IndexDamage extends Unavailable {
  constructor(what: string) {
    super(`The index is damaged and will be built anew; try again. (${what})`);
    this.name = 'IndexDamage';
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
