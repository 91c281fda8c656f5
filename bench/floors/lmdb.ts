import { open, type RootDatabase } from 'lmdb';
import '../../src/base/bytes.js';

/**
 * LMDB set up as the server's store has it, without the server: byte strings as keys and values, commit and flush as
 * one step. A copy and not an import, so that a change to the server leaves the floor where it was.
 */
export function openBare(folder: string): RootDatabase<string, string> {
  return open<string, string>({
    path: folder,
    noSubdir: false,
    keyEncoder: {
      writeKey: (key: string, target: Buffer, position: number) =>
        position + target.latin1Write(key, position),
      readKey: (source: Buffer, start: number, end: number) => source.latin1Slice(start, end),
    },
    encoder: {
      encode: (value: string) => Buffer.from(value, 'latin1'),
      decode: (bytes: Buffer, length?: number | { end: number }) =>
        bytes.latin1Slice(
          0,
          length === undefined ? bytes.length : typeof length === 'number' ? length : length.end,
        ),
    },
    cache: false,
    overlappingSync: false,
    noMemInit: true,
    maxReaders: 512,
  } as never);
}

/** As many bytes as the server's keys have in front of an id. */
export const documentPrefix = '\0\0\0\0\x01\x01';
export const changePrefix = '\0\0\0\0\x01\x03';
