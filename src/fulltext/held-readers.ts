import { Unavailable } from '../base/errors.js';
import type { ViewReader } from '../indexes/view-reader.js';

type ReadersNow = () => readonly (ViewReader | undefined)[];

/**
 * Gives the indexes of groups as they are at the moment, and refuses where one is gone that was there before. When a group has
 * been divided, its index is removed soon after: a search that still reads it must not end as if there were nothing more to find.
 * `areThere` says that all of them were there when the search began.
 */
export function heldReaders(readersNow: ReadersNow, areThere: boolean): ReadersNow {
  const seen = new Set<number>();
  return () => {
    const readers = readersNow();
    for (const [group, reader] of readers.entries()) {
      if (reader !== undefined) seen.add(group);
      else if (areThere || seen.has(group))
        throw new Unavailable('The index was removed during the search; try again.');
    }
    return readers;
  };
}
