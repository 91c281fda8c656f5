export interface AutoPurgeSettings {
  /** A period such as `30_days`, `infinity`, or a number of seconds. */
  deleted_document_ttl?: string | number;
}

export interface ExpirySettings {
  /** The member of documents that has the date after which they are deleted. */
  field?: string;
}
