import type { Clause, RangeNode } from './query-node.js';

const term = /(?:[^\s\u3000+\-!():^[\]"{}~\\/]|\\.)(?:[^\s\u3000!():^[\]"{}~\\/]|\\.)*/suy;
const fieldName =
  /((?:[^\s\u3000+\-!():^[\]"{}~*?\\/]|\\.)(?:[^\s\u3000!():^[\]"{}~*?\\/]|\\.)*)[\s\u3000]*:/suy;
const quotedText = /"((?:[^"\\]|\\.)*)"/suy;
const regexText = /\/((?:[^/\\]|\\.)*)\//suy;
const rangeText =
  /([[{])\s*("(?:[^"\\]|\\.)*"|(?:[^\s"\]}\\]|\\.)+)\s+(?:TO\s+)?("(?:[^"\\]|\\.)*"|(?:[^\s"\]}\\]|\\.)+)\s*([\]}])/suy;
const number = /\d+(?:\.\d+)?|\.\d+/y;
const conjunctions = /(AND|OR)(?=[\s\u3000(+\-!"]|$)|&&|\|\|/suy;
const not = /NOT(?=[\s\u3000(+\-"]|$)/suy;

/** Finds the parts of a query from where it stands. */
export class QueryScanner {
  at = 0;

  constructor(private readonly text: string) {}

  get isDone(): boolean {
    return this.at >= this.text.length;
  }

  skipSpace(): void {
    this.#match(/[\s\u3000]*/uy);
  }

  sees(what: string): boolean {
    return this.text.startsWith(what, this.at);
  }

  take(what: string): boolean {
    if (!this.sees(what)) return false;
    this.at += what.length;
    return true;
  }

  conjunction(): 'and' | 'or' | undefined {
    const found = this.#match(conjunctions)?.[0];
    if (found === undefined) return undefined;
    this.skipSpace();
    return found === 'AND' || found === '&&' ? 'and' : 'or';
  }

  /** What stands before a clause. */
  sign(): Clause['occur'] | undefined {
    this.skipSpace();
    let occur: Clause['occur'] | undefined;
    if (this.take('+')) occur = 'must';
    else if (this.take('-') || this.take('!') || this.#match(not) !== undefined) occur = 'not';
    this.skipSpace();
    return occur;
  }

  field(): string | undefined {
    const found = this.#match(fieldName)?.[1];
    return found?.replace(/\\(.)/gsu, '$1');
  }

  quoted(): string | undefined {
    return this.#match(quotedText)?.[1]!.replace(/\\(.)/gsu, '$1');
  }

  regex(): string | undefined {
    return this.#match(regexText)?.[1]!.replaceAll('\\/', '/');
  }

  /** A term with its wildcards and escapes. */
  term(): string | undefined {
    return this.#match(term)?.[0];
  }

  /** The number behind `~`, if there is one. */
  tilde(): number | undefined {
    if (!this.take('~')) return undefined;
    const found = this.#match(number)?.[0];
    return found === undefined ? undefined : Number(found);
  }

  /** The number behind `^`; undefined without one, and NaN where something else stands there. */
  boost(): number | undefined {
    if (!this.take('^')) return undefined;
    return Number(this.#match(number)?.[0] ?? NaN);
  }

  range(): Omit<RangeNode, 'kind' | 'field'> | undefined {
    const found = this.#match(rangeText);
    if (found === undefined) return undefined;
    const [, opening, low, high, closing] = found as unknown as [string, string, string, string, string];
    return {
      low: bound(low),
      high: bound(high),
      includesLow: opening === '[',
      includesHigh: closing === ']',
    };
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return undefined;
    this.at += found[0].length;
    return found;
  }
}

function bound(text: string): string | undefined {
  if (text === '*') return undefined;
  const plain = text.startsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
  return plain.replace(/\\(.)/gsu, '$1');
}
