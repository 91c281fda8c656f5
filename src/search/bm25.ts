const k1 = 1.2;
const b = 0.75;

/** What is known of a term in an index as a whole. */
export interface TermStatistics {
  /** Documents that have the field. */
  docs: number;
  /** Documents that have the term in it. */
  docsWithTerm: number;
  /** Terms that the field has on average. */
  averageLength: number;
}

/** The relevance of a term to documents, by BM25. */
export function bm25({
  docs,
  docsWithTerm,
  averageLength,
}: TermStatistics): (frequency: number, length: number) => number {
  const idf = Math.log(1 + (Math.max(docs, docsWithTerm) - docsWithTerm + 0.5) / (docsWithTerm + 0.5));
  const average = averageLength > 0 ? averageLength : 1;
  return (frequency, length) =>
    (idf * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / average));
}
