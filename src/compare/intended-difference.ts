/**
 * Where Tuffet answers otherwise than CouchDB 3.4.3 on purpose: the one list of it. `docs/compatibility.md` shows it, and
 * `npm run compare` reports everything else.
 */
export interface IntendedDifference {
  endpoint: string;
  /**
   * `status`, which stands for the whole answer, or the path of a member: `headers.etag`, `body.rows[].value`. `{docid}`
   * stands for the id of a document, `{attname}` for the name of an attachment.
   */
  member: string;
  /** The parameter or member of the body (`selector.$text`) that it takes; always, where there is none. */
  with?: string;
  /** Only where that is a list or an object. */
  compound?: boolean;
  /** Only where the body has this text in it, as JSON without spaces. */
  containing?: string;
  /** A number is the only value for which the difference is intended; what is not always the same is told in words. */
  couchdb: string | number;
  tuffet: string | number;
  reason: string;
}
