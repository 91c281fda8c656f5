import type { BenchDocument } from './documents.js';
import type { BenchOptions } from './options.js';
import type { BenchServer } from './processes.js';

/** What all figures share: a running server with a database that holds the documents. */
export interface BenchContext {
  options: BenchOptions;
  server: BenchServer;
  documents: readonly BenchDocument[];
  /** The database that holds them, by name. */
  database: string;
  /** For files of the benchmark; gone in the end. */
  folder: string;
}
