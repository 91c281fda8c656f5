import type { Bytes } from '../base/bytes.js';
import type { DocBits } from './doc-bits.js';

type Score = (frequency: number, length: number) => number;

/** A query made ready for one index: its texts are terms, its patterns are the documents they fit. */
export type Plan =
  | { kind: 'none' }
  | { kind: 'all'; boost: number }
  | { kind: 'term'; key: Bytes; score: Score; boost: number; docs: number }
  | { kind: 'phrase'; terms: readonly PhraseTerm[]; slop: number; score: Score; boost: number; docs: number }
  /** Documents that match whatever their terms weigh. */
  | { kind: 'bits'; bits: DocBits; boost: number }
  | { kind: 'bool'; must: readonly Plan[]; should: readonly Plan[]; not: readonly Plan[]; boost: number };

export interface PhraseTerm {
  key: Bytes;
  /** Its place in the phrase. */
  at: number;
}
