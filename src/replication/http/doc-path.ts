import { fromBytes, type Bytes } from '../../base/bytes.js';

const heads = ['_design/', '_local/'];

/** An id as it stands in an address. */
export function docPath(id: Bytes): string {
  const text = fromBytes(id);
  const head = heads.find((each) => text.startsWith(each)) ?? '';
  return head + encodeURIComponent(text.slice(head.length));
}
