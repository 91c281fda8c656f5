import type { Bytes } from '../base/bytes.js';
import type { RevTree } from '../revisions/tree.js';

/**
 * Trees of large records that were read or written last, by the record's bytes. A document with thousands of conflicts
 * is asked for again and again, once for each revision that is read or written, and decoding its tree is most of the
 * work. Trees never change, and comparing the bytes of a record costs little beside decoding them.
 */
let recent: { record: Bytes; tree: RevTree }[] = [];

const recordsMax = 8;
const recordBytesMin = 8 * 1024;
/** Of one record: decoded, it takes several times as much. */
const recordBytesMax = 4 * 1024 * 1024;
const recordsBytesMax = 8 * 1024 * 1024;

export function recallTree(record: Bytes): RevTree | undefined {
  if (record.length < recordBytesMin) return undefined;
  return recent.find((each) => each.record === record)?.tree;
}

export function rememberTree(record: Bytes, tree: RevTree): void {
  if (record.length < recordBytesMin || record.length > recordBytesMax) return;
  const kept = [{ record, tree }];
  let bytes = record.length;
  for (const each of recent) {
    bytes += each.record.length;
    if (kept.length >= recordsMax || bytes > recordsBytesMax) break;
    if (each.record !== record) kept.push(each);
  }
  recent = kept;
}
