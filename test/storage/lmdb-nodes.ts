import { pageHeaderBytes } from '../../src/storage/lmdb-file.js';

const nodeHeaderBytes = 8;

export interface Node {
  keyAt: number;
  key: string;
  /** Of a leaf, where its value stands and how long that is. */
  valueAt: number;
  valueBytes: number;
  /** Of a branch, the page it leads to. */
  child: number;
}

/** The nodes of a page, as LMDB finds them. */
export function nodesOf(file: Buffer, page: number, pageBytes: number): Node[] {
  const start = page * pageBytes;
  return Array.from({ length: file.readUInt16LE(start + 20) / 2 }, (_, n) => {
    const at = start + pageHeaderBytes + file.readUInt16LE(start + pageHeaderBytes + 2 * n);
    const keyAt = at + nodeHeaderBytes;
    const valueAt = keyAt + file.readUInt16LE(at + 6);
    const key = file.latin1Slice(keyAt, valueAt);
    return { keyAt, key, valueAt, valueBytes: file.readUInt32LE(at), child: file.readUIntLE(at, 6) };
  });
}
