import type { Analyzer } from '../search/analysis/analyzer.js';
import type { Token } from '../search/analysis/token.js';
import { wildcardPattern } from '../search/patterns.js';
import type { QueryNode } from '../search/query/query-node.js';
import type { Highlighting } from './search-request.js';

type Test = (term: string) => boolean;

/** Marks the terms of a query in the texts of documents. */
export class Highlighter {
  readonly #tests = new Map<string, Test[]>();

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
      this.#add(node.field, (term) => terms.has(term));
    } else if (node.kind === 'wildcard') {
      const { matches } = wildcardPattern(node.text.toLowerCase());
      this.#add(node.field, (term) => matches(term.toLowerCase()));
    } else if (node.kind === 'fuzzy') this.#add(node.field, (term) => term === node.text.toLowerCase());
  }

  #add(field: string, test: Test): void {
    this.#tests.set(field, [...(this.#tests.get(field) ?? []), test]);
  }

  /** The best pieces of each field's text that have something to mark. */
  highlights(stored: Readonly<Record<string, unknown>>): Record<string, string[]> {
    const found: Record<string, string[]> = {};
    for (const field of this.options.fields) {
      const value = Object.hasOwn(stored, field) ? stored[field] : undefined;
      const texts = (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
      const pieces = texts.flatMap((text) => this.#pieces(field, text));
      const best = pieces.sort((a, b) => b.marks - a.marks).slice(0, this.options.number);
      if (best.length > 0) found[field] = best.map(({ text }) => text);
    }
    return found;
  }

  #pieces(field: string, text: string): { text: string; marks: number }[] {
    const tests = this.#tests.get(field);
    if (tests === undefined) return [];
    const { size } = this.options;
    const pieces: { start: number; end: number; marked: Token[] }[] = [];
    for (const token of this.analyzer.tokens(field, text)) {
      let piece = pieces.at(-1);
      if (piece === undefined || token.end - piece.start > size) {
        if (piece !== undefined) piece.end = token.start;
        pieces.push((piece = { start: pieces.length === 0 ? 0 : token.start, end: text.length, marked: [] }));
      }
      if (token.term !== '' && tests.some((test) => test(token.term))) piece.marked.push(token);
    }
    return pieces
      .filter(({ marked }) => marked.length > 0)
      .map(({ start, end, marked }) => ({
        text: this.#marked(text, start, end, marked),
        marks: marked.length,
      }));
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
