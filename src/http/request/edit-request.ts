import { toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { InputLimits } from '../../documents/read-document.js';
import type { Database } from '../../node/database.js';
import { parseRev, type Rev } from '../../revisions/rev.js';
import { legalId, type DocId, type LegalId } from '../../shard/doc-id.js';
import type { Exchange } from '../exchange.js';
import { isText } from './path.js';

export function inputLimits({ services: { config } }: Exchange): InputLimits {
  return {
    document_bytes_max: config.number('couchdb/max_document_size'),
    id_bytes_max: config.number('couchdb/max_document_id_length'),
  };
}

/** The id in a path or a header by which a document is to be saved. */
export function writableId(exchange: Exchange, database: Database, id: Bytes): DocId {
  if (!isText(id)) throw new RequestError('illegal_docid', 'Document id must be valid UTF-8');
  return database.docId(legalId(id, inputLimits(exchange).id_bytes_max));
}

/** The id of a document that was sent without one. */
export const newId = ({ services }: Exchange): LegalId => legalId(toBytes(services.uuids.next()), Infinity);

/** The revision that a write names, in its body, its query or its `If-Match`; all that speak must agree. */
export function namedRev(exchange: Exchange, inBody: Rev | undefined): Rev | undefined {
  const queryText = exchange.query.first('rev');
  const inQuery = queryText === undefined ? undefined : parseRev(queryText);
  const inHeader = ifMatchRev(exchange);
  if (inBody !== undefined && inQuery !== undefined && !same(inBody, inQuery)) {
    throw badRequest('Document rev from request body and query string have different values');
  }
  const named = inBody ?? inQuery;
  if (named !== undefined && inHeader !== undefined && !same(named, inHeader)) {
    throw badRequest('Document rev and etag have different values');
  }
  return named ?? inHeader;
}

/** Of several revisions in the query of a document's write the first counts, but none may be malformed. */
export function checkQueryRevs(exchange: Exchange): void {
  for (const text of exchange.query.every('rev')) parseRev(text);
}

export function ifMatchRev(exchange: Exchange): Rev | undefined {
  const header = exchange.header('if-match');
  return header === undefined
    ? undefined
    : parseRev(
        header
          .trim()
          .replace(/^W\//, '')
          .replace(/^"(.*)"$/, '$1'),
      );
}

const same = (a: Rev, b: Rev): boolean => a.pos === b.pos && a.hash === b.hash;
