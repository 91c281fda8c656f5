/** What a replication has done. */
export class Stats {
  missingChecked = 0;
  missingFound = 0;
  docsRead = 0;
  docsWritten = 0;
  docWriteFailures = 0;
  bulkGetAttempts = 0;
  bulkGetDocs = 0;

  add(other: Stats): void {
    this.missingChecked += other.missingChecked;
    this.missingFound += other.missingFound;
    this.docsRead += other.docsRead;
    this.docsWritten += other.docsWritten;
    this.docWriteFailures += other.docWriteFailures;
    this.bulkGetAttempts += other.bulkGetAttempts;
    this.bulkGetDocs += other.bulkGetDocs;
  }

  /** As jobs and documents show them. */
  members(): Record<string, number> {
    return {
      revisions_checked: this.missingChecked,
      missing_revisions_found: this.missingFound,
      docs_read: this.docsRead,
      docs_written: this.docsWritten,
      doc_write_failures: this.docWriteFailures,
      bulk_get_docs: this.bulkGetDocs,
      bulk_get_attempts: this.bulkGetAttempts,
    };
  }
}
