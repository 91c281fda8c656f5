/**
 * Some options hold lists in the notation of Erlang, which is CouchDB's: `[{"expression", "reason"}, "expression"]`,
 * `{chttpd_auth, cookie_authentication_handler}`. This reads as much of it as options need: lists, tuples, strings,
 * atoms and whole numbers.
 */
export type Term =
  | { type: 'list'; items: Term[] }
  | { type: 'tuple'; items: Term[] }
  | { type: 'string'; text: string }
  | { type: 'atom'; text: string }
  | { type: 'number'; value: number };

/** Parses a single term; undefined if the text is not one. */
export function parseTerm(text: string): Term | undefined {
  const reader = new TermReader(text);
  const term = reader.term(0);
  return term !== undefined && reader.atEnd ? term : undefined;
}

/** Parses comma-separated terms; undefined if one of them is malformed. */
export function parseTerms(text: string): Term[] | undefined {
  const term = parseTerm(`[${text}]`);
  return term?.type === 'list' ? term.items : undefined;
}

/** The text of an atom or a string. */
export function textOf(term: Term | undefined): string | undefined {
  return term?.type === 'atom' || term?.type === 'string' ? term.text : undefined;
}

const depthMax = 20;
const closing = { '[': ']', '{': '}' } as const;
const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  d: '\x7f',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  s: ' ',
  t: '\t',
  v: '\v',
};

class TermReader {
  #at = 0;

  constructor(private readonly text: string) {}

  get atEnd(): boolean {
    this.#skipSpace();
    return this.#at === this.text.length;
  }

  term(depth: number): Term | undefined {
    this.#skipSpace();
    const first = this.text[this.#at];
    if (first === '[' || first === '{') return depth < depthMax ? this.#items(first, depth) : undefined;
    if (first === '"') {
      const text = this.#quoted('"');
      return text === undefined ? undefined : { type: 'string', text };
    }
    if (first === "'") {
      const text = this.#quoted("'");
      return text === undefined ? undefined : { type: 'atom', text };
    }
    const atom = this.#match(/[a-z][\w@]*/y);
    if (atom !== undefined) return { type: 'atom', text: atom };
    const digits = this.#match(/-?\d{1,15}/y);
    return digits === undefined ? undefined : { type: 'number', value: Number(digits) };
  }

  #items(open: '[' | '{', depth: number): Term | undefined {
    const type = open === '[' ? 'list' : 'tuple';
    const items: Term[] = [];
    this.#at++;
    if (this.#take(closing[open])) return { type, items };
    for (;;) {
      const item = this.term(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      if (this.#take(closing[open])) return { type, items };
      if (!this.#take(',')) return undefined;
    }
  }

  #quoted(quote: string): string | undefined {
    let value = '';
    for (this.#at++; this.#at < this.text.length; this.#at++) {
      const character = this.text[this.#at]!;
      if (character === quote) {
        this.#at++;
        return value;
      }
      if (character !== '\\') value += character;
      else {
        const escaped = this.text[++this.#at];
        if (escaped === undefined) return undefined;
        value += escapes[escaped] ?? escaped;
      }
    }
    return undefined;
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #skipSpace(): void {
    while (this.#at < this.text.length && this.text.charCodeAt(this.#at) <= 0x20) this.#at++;
  }
}
