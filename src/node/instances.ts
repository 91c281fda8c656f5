import { asBytes } from '../base/bytes.js';
import { prefixEnd, type Store } from '../storage/store.js';

/** The instance numbers of the databases that have keys in a volume, found by jumping from one to the next. */
export function* instancesIn(store: Pick<Store, 'keys'>): Iterable<number> {
  let start = asBytes('\0\0\0\0\x01');
  for (;;) {
    const [key] = store.keys({ start, end: asBytes('\xff'), limit: 1 });
    if (key === undefined) return;
    yield Buffer.from(key.slice(0, 5), 'latin1').readUIntBE(0, 5);
    start = prefixEnd(key.slice(0, 5));
  }
}
