import type { Entry, Range } from './store.js';

/** The entries of a range up to and with the one that brings them to so many bytes. */
export function upToBytes(entries: Iterable<Entry>, { keyFrom = 0 }: Range, bytesMax: number): Entry[] {
  const found: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    found.push(entry);
    bytes += keyFrom + entry.key.length + entry.value.length;
    if (bytes >= bytesMax) break;
  }
  return found;
}
