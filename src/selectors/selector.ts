/**
 * Selectors say which documents are meant. They are compiled once for a request and then evaluated for each
 * document. Queries, feeds, replications and partial indexes use them.
 */
import { compileNode } from './compile.js';
import { parseField } from './field-path.js';
import type { SelectorNode } from './node.js';
import { normalizeSelector } from './normalize.js';

export interface Selector {
  readonly normal: SelectorNode;
  /**
   * The members of a document that the selector looks at. Members with an underscore are not a part of stored bodies;
   * who doesn't find them here need not make them.
   */
  readonly members: ReadonlySet<string>;
  /** Whether it looks at the document as a whole, and not only at those members. */
  readonly isWhole: boolean;
  /** Whether a condition is about the document itself: that has all its members, those with an underscore too. */
  readonly isOfDocument: boolean;
  /** Whether a document, parsed, is meant. */
  matches(doc: unknown): boolean;
}

/** Refuses what is no selector, with CouchDB's names for what is wrong. */
export function compileSelector(selector: unknown, allowsText = false): Selector {
  const steps = compileInSteps(selector, allowsText);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same for a selector that may have thousands of conditions. */
export function* compileInSteps(selector: unknown, allowsText: boolean): Generator<void, Selector> {
  const normal = yield* normalizeSelector(selector, allowsText);
  yield;
  const members = new Set(membersOf(normal));
  const isWhole = looksAtWhole(normal);
  const isOfDocument = looksAtDocument(normal);
  yield;
  return { normal, members, isWhole, isOfDocument, matches: compileNode(normal) };
}

function looksAtDocument(node: SelectorNode): boolean {
  switch (node.kind) {
    case 'everything':
    case 'text':
      return false;
    case 'and':
    case 'or':
    case 'nor':
      return node.args.some(looksAtDocument);
    case 'not':
      return looksAtDocument(node.arg);
    case 'field':
      return node.field === '';
    case 'parts':
    case 'condition':
      return true;
  }
}

function looksAtWhole(node: SelectorNode): boolean {
  if (node.kind === 'everything' || node.kind === 'text') return false;
  if (node.kind === 'and' || node.kind === 'or') return node.args.some(looksAtWhole);
  return node.kind !== 'field' || node.field === '';
}

function* membersOf(node: SelectorNode): Iterable<string> {
  if (node.kind === 'and' || node.kind === 'or') for (const arg of node.args) yield* membersOf(arg);
  if (node.kind === 'field' && node.field !== '') yield parseField(node.field)[0]!;
}
