import type { Analyzer } from '../search/analysis/analyzer.js';
import type { Token } from '../search/analysis/token.js';
import { wildcardPattern } from '../search/patterns.js';
import type { QueryNode } from '../search/query/query-node.js';
import type { Highlighting } from './search-request.js';

/** Tells whether a term is marked. */
interface Test {
  matches: (term: string) => boolean;
  /** How many letters are compared for each of the term at most. */
  cost: number;
}

/** Of longer texts the beginning is looked at. */
const textLengthMax = 50 * 1024;
/** For one document: about how many letters are compared. Then nothing more is marked. A letter that is read counts several times. */
const workMax = 2_000_000;
const readCost = 8;
/** So does a letter of a tag that is added. */
const tagCost = 4;

/** Marks the terms of a query in the texts of documents, in bounded time for each of them. */
export class Highlighter {
  readonly #tests = new Map<string, Test[]>();
  /** What is left for the document at hand. */
  #work = 0;

  constructor(
    private readonly analyzer: Analyzer,
    query: QueryNode,
    private readonly options: Highlighting,
  ) {
    this.#collect(query);
  }

  #collect(node: QueryNode): void {
    if (node.kind === 'bool') {
      for (const { occur, node: inner } of node.clauses) if (occur !== 'not') this.#collect(inner);
    } else if (node.kind === 'text') {
      const terms = new Set(Array.from(this.analyzer.tokens(node.field, node.text), ({ term }) => term));
      this.#add(node.field, { matches: (term) => terms.has(term), cost: 1 });
    } else if (node.kind === 'wildcard') {
      const { matches } = wildcardPattern(node.text.toLowerCase());
      this.#add(node.field, { matches: (term) => matches(term.toLowerCase()), cost: node.text.length });
    } else if (node.kind === 'fuzzy') {
      const text = node.text.toLowerCase();
      this.#add(node.field, { matches: (term) => term === text, cost: 1 });
    }
  }

  #add(field: string, test: Test): void {
    const tests = this.#tests.get(field);
    if (tests === undefined) this.#tests.set(field, [test]);
    else tests.push(test);
  }

  /** The best pieces of each field's text that have something to mark. */
  highlights(stored: Readonly<Record<string, unknown>>): Record<string, string[]> {
    const found: Record<string, string[]> = {};
    this.#work = workMax;
    for (const field of this.options.fields) {
      const value = Object.hasOwn(stored, field) ? stored[field] : undefined;
      const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
      const pieces = texts.flatMap((text) => this.#pieces(field, text));
      const best = pieces.sort((a, b) => b.marks - a.marks).slice(0, this.options.number);
      if (best.length > 0) found[field] = best.map(({ text }) => text);
    }
    return found;
  }

  #pieces(field: string, whole: string): { text: string; marks: number }[] {
    const tests = this.#tests.get(field);
    if (tests === undefined || this.#work <= 0) return [];
    const text = whole.slice(0, textLengthMax);
    this.#work -= text.length * readCost;
    const { size } = this.options;
    const pieces: { start: number; end: number; marked: Token[] }[] = [];
    for (const token of this.analyzer.tokens(field, text)) {
      let piece = pieces.at(-1);
      if (piece === undefined || token.end - piece.start > size) {
        if (piece !== undefined) piece.end = token.start;
        pieces.push((piece = { start: pieces.length === 0 ? 0 : token.start, end: text.length, marked: [] }));
      }
      if (token.term === '' || !this.#isMarked(token.term, tests)) continue;
      piece.marked.push(token);
      this.#work -= (this.options.preTag.length + this.options.postTag.length) * tagCost;
    }
    return pieces
      .filter(({ marked }) => marked.length > 0)
      .map(({ start, end, marked }) => ({
        text: this.#marked(text, start, end, marked),
        marks: marked.length,
      }));
  }

  #isMarked(term: string, tests: readonly Test[]): boolean {
    for (const { matches, cost } of tests) {
      if (this.#work <= 0) return false;
      this.#work -= term.length * cost;
      if (matches(term)) return true;
    }
    return false;
  }

  #marked(text: string, start: number, end: number, tokens: readonly Token[]): string {
    const { preTag, postTag } = this.options;
    let shown = '';
    let at = start;
    for (const token of tokens) {
      if (token.start < at) continue;
      shown += text.slice(at, token.start) + preTag + text.slice(token.start, token.end) + postTag;
      at = token.end;
    }
    return shown + text.slice(at, end);
  }
}
