import { asBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { openDoc } from '../documents/open-doc.js';
import { docText } from '../shard/doc-text.js';
import type { SearchSource } from './search-source.js';

/** A document beside its hit; null where it is gone by now, or hidden. */
export function docJson({ database, show }: SearchSource, id: Bytes): Bytes {
  try {
    const doc = openDoc(database, id, { show });
    return docText(doc.id, doc.rev, doc.content, doc.extra);
  } catch (error) {
    if (error instanceof RequestError) return asBytes('null');
    throw error;
  }
}
