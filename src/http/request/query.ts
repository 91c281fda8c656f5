import { fromBytes } from '../../base/bytes.js';
import { invalidJson } from '../../base/errors.js';
import { parseJson } from '../../json/scan.js';
import { decodeComponent } from './path.js';

const separators = /[&;]/;

/** The parameters of a request; of one given twice, the last counts for most. */
export class Query {
  readonly #values = new Map<string, string>();
  /** In their order, where one is given twice, which is rare. */
  #all: [string, string][] | undefined;
  /** The first values of those given twice. */
  #firsts: Map<string, string> | undefined;
  #switchedOn: Set<string> | undefined;

  constructor(text: string) {
    for (const pair of text.includes(';') ? text.split(separators) : text.split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = equals < 0 ? pair : pair.slice(0, equals);
      const value = equals < 0 ? '' : pair.slice(equals + 1);
      this.#set(textOf(name), textOf(value));
      if (value === 'true') (this.#switchedOn ??= new Set()).add(textOf(name));
    }
  }

  #set(name: string, value: string): void {
    const earlier = this.#values.get(name);
    if (earlier !== undefined) {
      this.#all ??= [...this.#values];
      this.#firsts ??= new Map();
      if (!this.#firsts.has(name)) this.#firsts.set(name, earlier);
    }
    this.#values.set(name, value);
    this.#all?.push([name, value]);
  }

  /** The same with names in lower case, for endpoints whose parameter names are case-insensitive. */
  lowerCased(): Query {
    const query = new Query('');
    for (const [name, value] of this.all()) query.#set(name.toLowerCase(), value);
    query.#switchedOn = this.#switchedOn && new Set([...this.#switchedOn].map((name) => name.toLowerCase()));
    return query;
  }

  get size(): number {
    return this.#values.size;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** The first value of a parameter given twice: how writes take their revision and whether to batch. */
  first(name: string): string | undefined {
    return this.#firsts?.get(name) ?? this.#values.get(name);
  }

  /** The values of one parameter: of those given twice none may be wrong. */
  every(name: string): string[] {
    const value = this.#values.get(name);
    if (this.#all === undefined) return value === undefined ? [] : [value];
    return this.#all.flatMap(([each, text]) => (each === name ? [text] : []));
  }

  /** Every value, also the earlier ones of a parameter given twice. */
  all(): Iterable<[string, string]> {
    return this.#all ?? this.#values;
  }

  entries(): Iterable<[string, string]> {
    return this.#values;
  }

  /** Anything but `true` says nothing, even behind a `true`: how reads of documents take their switches. */
  isTrue(name: string): boolean {
    return this.#switchedOn?.has(name) ?? false;
  }
}

/** Nearly every name, and most values, are what they look like. */
const textOf = (component: string): string =>
  plain.test(component) ? component : fromBytes(decodeComponent(component));

const plain = /^[!-$&-*,-~]*$/;

export const emptyQuery = new Query('');

const plainString = /^"[\w .:/@-]*"$/;
const plainNumber = /^-?(?:0|[1-9]\d{0,14})$/;

/** A parameter that holds JSON; nearly always a string without anything special, or a whole number. */
export function parseJsonText(text: string): unknown {
  if (text === '') throw invalidJson();
  if (plainString.test(text)) return text.slice(1, -1);
  if (plainNumber.test(text)) return Number(text);
  return parseJson(Buffer.from(text));
}
