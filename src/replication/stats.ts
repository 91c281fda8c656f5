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

  /** Adds the counts of an earlier session, as its history entry has them; what is no count is ignored. */
  addSession(entry: Readonly<Record<string, unknown>>): void {
    const countOf = (name: string): number => {
      const value = entry[name];
      return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
    };
    this.missingChecked += countOf('missing_checked');
    this.missingFound += countOf('missing_found');
    this.docsRead += countOf('docs_read');
    this.docsWritten += countOf('docs_written');
    this.docWriteFailures += countOf('doc_write_failures');
    this.bulkGetAttempts += countOf('bulk_get_attempts');
    this.bulkGetDocs += countOf('bulk_get_docs');
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
