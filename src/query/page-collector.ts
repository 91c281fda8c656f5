import { asBytes, type Bytes } from '../base/bytes.js';
import type { Collector } from './cursor.js';
import type { FindRequest } from './find-request.js';
import type { IndexRow } from './index-reader.js';
import type { Match } from './matching.js';

const heavyBytes = 64 * 1024;

/** Takes the documents of a page, and counts on behind it where all are to be counted. */
export class PageCollector implements Collector {
  returned = 0;
  matched = 0;
  /** The last one that was taken. */
  last: IndexRow | undefined;
  #text = '';
  #skip: number;
  readonly #limit: number;
  readonly #countAll: boolean;

  constructor({ skip, limit, count }: Pick<FindRequest, 'skip' | 'limit' | 'count'>) {
    this.#skip = skip;
    this.#limit = limit;
    this.#countAll = count;
  }

  take(match: Match): void {
    this.matched++;
    if (this.#skip > 0) {
      this.#skip--;
      return;
    }
    if (this.returned >= this.#limit) return;
    this.#text += (this.returned === 0 ? '\n' : ',\n') + match.text();
    this.returned++;
    this.last = match.row;
  }

  get isFull(): boolean {
    return this.returned >= this.#limit && !this.#countAll;
  }

  get isHeavy(): boolean {
    return this.#text.length >= heavyBytes;
  }

  /** What was taken since the last time, as text. */
  drain(): Bytes {
    const text = this.#text;
    this.#text = '';
    return asBytes(text);
  }
}
