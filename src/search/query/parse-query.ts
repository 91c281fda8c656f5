import { badRequest, type RequestError } from '../../base/errors.js';
import { QueryScanner } from './query-scanner.js';
import type { Clause, QueryNode } from './query-node.js';

/** Longer queries, deeper nesting and more clauses than these are refused. */
const lengthMax = 32_768;
const depthMax = 100;
const clausesMax = 1_024;

/** Fuzzy terms may differ in so many letters unless the query says otherwise. */
const defaultEdits = 2;

/** Reads Lucene's query syntax. What has no field of its own is looked for in `default`. */
export function parseQuery(text: string): QueryNode {
  if (text.length > lengthMax) throw badRequest(`The query is longer than ${lengthMax} characters.`);
  const parser = new QueryParser(text);
  return parser.parse();
}

/**
 * A recursive descent. Conjunctions work as in Lucene, where they are no operators with precedence: `AND` makes what stands
 * on both its sides required, `OR` leaves it as it is, `NOT` and `-` exclude, `+` requires.
 */
class QueryParser {
  readonly #scan: QueryScanner;
  #clauses = 0;

  constructor(private readonly text: string) {
    this.#scan = new QueryScanner(text);
  }

  parse(): QueryNode {
    this.#scan.skipSpace();
    if (this.#scan.isDone) throw this.#error();
    const node = this.#query('default', 0);
    if (!this.#scan.isDone) throw this.#error();
    return node;
  }

  #query(field: string, depth: number): QueryNode {
    if (depth > depthMax) throw badRequest(`The query is nested deeper than ${depthMax} levels.`);
    const clauses: Clause[] = [];
    for (;;) {
      this.#scan.skipSpace();
      if (this.#scan.isDone || this.#scan.sees(')')) break;
      const conjunction = this.#scan.conjunction();
      if (conjunction !== undefined && clauses.length === 0) throw this.#error();
      const sign = this.#scan.sign();
      const node = this.#clause(field, depth);
      if (++this.#clauses > clausesMax) throw badRequest(`The query has more than ${clausesMax} clauses.`);
      if (conjunction === 'and') require(clauses.at(-1)!);
      const isRequired = sign === 'must' || (conjunction === 'and' && sign !== 'not');
      clauses.push({ node, occur: isRequired ? 'must' : (sign ?? 'should') });
    }
    if (clauses.length === 0) throw this.#error();
    const [only] = clauses;
    return clauses.length === 1 && only!.occur !== 'not' ? only!.node : { kind: 'bool', clauses };
  }

  #clause(outer: string, depth: number): QueryNode {
    const scan = this.#scan;
    scan.skipSpace();
    if (scan.take('*:*')) return this.#boosted({ kind: 'all' });
    const field = scan.field() ?? outer;
    scan.skipSpace();
    if (scan.take('(')) {
      const node = this.#query(field, depth + 1);
      if (!scan.take(')')) throw this.#error();
      return this.#boosted(node);
    }
    return this.#boosted(this.#leaf(field));
  }

  #leaf(field: string): QueryNode {
    const scan = this.#scan;
    if (scan.sees('"')) {
      const text = scan.quoted();
      if (text === undefined) throw this.#error();
      return { kind: 'text', field, text, isQuoted: true, slop: scan.tilde() ?? 0 };
    }
    if (scan.sees('/')) {
      const text = scan.regex();
      if (text === undefined) throw this.#error();
      return { kind: 'regex', field, text };
    }
    if (scan.sees('[') || scan.sees('{')) {
      const range = scan.range();
      if (range === undefined) throw this.#error();
      return { kind: 'range', field, ...range };
    }
    const term = scan.term();
    if (term === undefined) throw this.#error();
    if (scan.sees('~')) {
      const similarity = scan.tilde() ?? defaultEdits;
      return { kind: 'fuzzy', field, text: unescape(term), similarity };
    }
    if (hasWildcard.test(term.replace(/\\./gsu, ''))) return { kind: 'wildcard', field, text: term };
    return { kind: 'text', field, text: unescape(term), isQuoted: false, slop: 0 };
  }

  #boosted(node: QueryNode): QueryNode {
    const boost = this.#scan.boost();
    if (boost === undefined) return node;
    if (!Number.isFinite(boost)) throw this.#error();
    return { ...node, boost: boost * (node.boost ?? 1) };
  }

  #error(): RequestError {
    const shown = this.text.length > 200 ? `${this.text.slice(0, 200)}…` : this.text;
    return badRequest(`Cannot parse '${shown}' at character ${this.#scan.at + 1}.`);
  }
}

const hasWildcard = /[*?]/;

function require(clause: Clause): void {
  if (clause.occur === 'should') clause.occur = 'must';
}

const unescape = (text: string): string => text.replace(/\\(.)/gsu, '$1');
