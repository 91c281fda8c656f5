import { membersOf } from './json-text.js';

/**
 * Splits a file of documents while it is read. It takes a list `[{…},…]`, the body of `_bulk_docs`, the answer of
 * `_all_docs` with documents, and one document a line.
 */
export class DocumentSplitter {
  #text = '';
  #at = 0;
  #depth = 0;
  #start = -1;
  #isInString = false;
  #elementDepth: number | undefined;
  #isRows = false;

  /** Takes the next piece of the file and gives the documents that are complete, as text. */
  push(piece: string): string[] {
    this.#text += piece;
    if (this.#elementDepth === undefined && !this.#recognise()) return [];
    const found: string[] = [];
    for (; this.#at < this.#text.length; this.#at++) this.#step(found);
    const keepFrom = this.#start >= 0 ? this.#start : this.#at;
    this.#text = this.#text.slice(keepFrom);
    this.#at -= keepFrom;
    if (this.#start >= 0) this.#start = 0;
    return found;
  }

  /** Whether the file ended inside a document. */
  get isIncomplete(): boolean {
    return this.#start >= 0 || this.#depth > 0;
  }

  #recognise(): boolean {
    const head = this.#text.trimStart();
    if (head.length < 40 && !/[\]}]\s*$/.test(head)) return false;
    const wrapper = /^\{\s*"(docs|rows|total_rows|offset|new_edits)"/.exec(head)?.[1];
    this.#isRows = wrapper === 'rows' || wrapper === 'total_rows' || wrapper === 'offset';
    this.#elementDepth = head.startsWith('[') ? 1 : wrapper === undefined ? 0 : 2;
    return true;
  }

  #step(found: string[]): void {
    const char = this.#text[this.#at]!;
    if (this.#isInString) {
      if (char === '\\') this.#at++;
      else if (char === '"') this.#isInString = false;
    } else if (char === '"') this.#isInString = true;
    else if (char === '{' || char === '[') {
      if (char === '{' && this.#depth === this.#elementDepth) this.#start = this.#at;
      this.#depth++;
    } else if (char === '}' || char === ']') {
      this.#depth--;
      if (this.#depth === this.#elementDepth && this.#start >= 0) this.#end(found);
    }
  }

  #end(found: string[]): void {
    const text = this.#text.slice(this.#start, this.#at + 1);
    this.#start = -1;
    const doc = this.#isRows ? membersOf(text).get('doc') : text;
    if (doc !== undefined && doc !== 'null') found.push(doc);
  }
}
