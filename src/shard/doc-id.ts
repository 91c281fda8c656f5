import { asBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';

export const designPrefix = asBytes('_design/');
export const localPrefix = '_local/';
export const isDesignId = (id: Bytes): boolean => id.startsWith(designPrefix);
export const isLocalId = (id: Bytes): boolean => id.startsWith(localPrefix);

declare const legal: unique symbol;
declare const placed: unique symbol;

/** An id of the form that ids have. */
export type LegalId = Bytes & { readonly [legal]: true };

/** An id that a document of the database at hand can have: `Database.docId` says so. */
export type DocId = LegalId & { readonly [placed]: true };

/** The id of a document that is stored, or that the server itself names. */
export const knownId = (id: Bytes): DocId => id as DocId;

/** Refuses what cannot be an id in any database. */
export function legalId(id: Bytes, bytesMax: number): LegalId {
  if (id === '') throw new RequestError('illegal_docid', 'Document id must not be empty');
  if (id.length > bytesMax) throw new RequestError('illegal_docid', 'Document id is too long');
  if (!id.startsWith('_')) return id as LegalId;
  if (id.length > designPrefix.length && isDesignId(id)) return id as LegalId;
  if (id.length > localPrefix.length && isLocalId(id)) return id as LegalId;
  if (id === designPrefix || id === localPrefix)
    throw new RequestError('illegal_docid', 'Illegal document id `' + id + '`');
  throw new RequestError('illegal_docid', 'Only reserved document ids may start with underscore.');
}

/** The part of an id before the first colon; undefined where it has none, and for design documents. */
export function partitionOf(id: Bytes): Bytes | undefined {
  const colon = id.indexOf(':');
  return colon < 0 || id.startsWith(designPrefix) ? undefined : id.slice(0, colon);
}
