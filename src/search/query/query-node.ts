/** A query as it was written, before its texts are analyzed. */
export type QueryNode = { boost?: number } & (
  | { kind: 'all' }
  /** Words; several where the analyzer finds several, which then have to stand as a phrase. */
  | { kind: 'text'; field: string; text: string; isQuoted: boolean; slop: number }
  | { kind: 'wildcard' | 'regex'; field: string; text: string }
  /** Below 1, the similarity that is needed at least; else the edits that are allowed at most. */
  | { kind: 'fuzzy'; field: string; text: string; similarity: number }
  | RangeNode
  | { kind: 'bool'; clauses: Clause[] }
);

export interface RangeNode {
  kind: 'range';
  field: string;
  /** Undefined where the range is open. */
  low: string | undefined;
  high: string | undefined;
  includesLow: boolean;
  includesHigh: boolean;
}

export interface Clause {
  occur: 'must' | 'should' | 'not';
  node: QueryNode;
}
