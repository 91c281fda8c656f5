/** Reads patterns in Perl's syntax, as CouchDB does, as far as they can be matched in a time that is known beforehand. */
import { CharSet, complement, ignoringCase, vertical, type Ranges } from './char-set.js';
import { Cursor, PatternError, readClass, readEscape } from './class-reader.js';
import type { Pattern, Place } from './pattern.js';

const depthMax = 100;
const repeatMax = 65_535;
const lengthMax = 10_000;

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly x: boolean;
}

export function parsePattern(text: string): Pattern {
  if (text.length > lengthMax) throw new PatternError(`longer than ${lengthMax} characters`);
  const reader = new PatternReader(text);
  return reader.read();
}

class PatternReader {
  readonly #cursor: Cursor;
  #flags: Flags = { i: false, m: false, s: false, x: false };
  #depth = 0;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
  }

  read(): Pattern {
    const pattern = this.#choice();
    if (!this.#cursor.done) throw new PatternError('unmatched )');
    return pattern;
  }

  /** Flags set in one alternative go on in the next, and end with the group. */
  #choice(): Pattern {
    if (++this.#depth > depthMax) throw new PatternError('groups are nested too deeply');
    const before = this.#flags;
    const items = [this.#sequence()];
    while (this.#cursor.take('|')) items.push(this.#sequence());
    this.#flags = before;
    this.#depth--;
    return items.length === 1 ? items[0]! : { kind: 'choice', items };
  }

  #sequence(): Pattern {
    const items: Pattern[] = [];
    const cursor = this.#cursor;
    while (!cursor.done && cursor.peek() !== '|' && cursor.peek() !== ')') {
      if (this.#skipped()) continue;
      if (cursor.take('\\Q')) {
        while (!cursor.done && !cursor.take('\\E')) items.push(this.#letter(cursor.codePoint()));
        if (items.length > 0) items.push(this.#repeated(items.pop()!));
        continue;
      }
      const atom = this.#atom();
      if (atom !== undefined) items.push(this.#repeated(atom));
    }
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  /** White space and comments of the extended syntax, and comments in groups. */
  #skipped(): boolean {
    const cursor = this.#cursor;
    if (cursor.match(/\(\?#[^)]*\)/y) !== null || cursor.take('\\E')) return true;
    return this.#flags.x && cursor.match(/[\t-\r ]+|#[^\n]*/y) !== null;
  }

  /** Undefined where only flags are set. */
  #atom(): Pattern | undefined {
    const cursor = this.#cursor;
    if (cursor.take('(')) return this.#group();
    if (cursor.take('[')) return { kind: 'set', set: readClass(cursor, this.#flags.i) };
    if (cursor.take('.')) return set(this.#flags.s ? [[0, 0x10ffff]] : complement([[10, 10]]));
    if (cursor.take('^')) return place(this.#flags.m ? 'line start' : 'text start');
    if (cursor.take('$')) return place(this.#flags.m ? 'line end' : 'end');
    if (cursor.match(/[*+?]|\{\d+(,\d*)?\}/y) !== null) throw new PatternError('nothing to repeat');
    if (!cursor.take('\\')) return this.#letter(cursor.codePoint());
    const named = cursor.match(/[bBAzZ]/y)?.[0];
    if (named !== undefined) return place(namedPlaces[named]!);
    if (cursor.take('R')) return lineBreak;
    const chars = readEscape(cursor, false);
    if ('code' in chars) return this.#letter(chars.code);
    return 'ranges' in chars
      ? set(chars.ranges)
      : { kind: 'set', set: new CharSet([], [chars.property], false) };
  }

  #letter(code: number): Pattern {
    const ranges: Ranges = [[code, code]];
    return set(this.#flags.i ? ignoringCase(ranges) : ranges);
  }

  #group(): Pattern | undefined {
    const cursor = this.#cursor;
    if (cursor.peek() === '*') throw new PatternError('verbs such as (*SKIP) are not supported');
    if (!cursor.take('?')) return this.#grouped();
    if (cursor.match(/:|\||P?<[A-Za-z_]\w*>|'[A-Za-z_]\w*'/y) !== null) return this.#grouped();
    const look = cursor.match(/(<?)([=!])/y);
    if (look !== null)
      return { kind: 'look', behind: look[1] === '<', negated: look[2] === '!', item: this.#grouped() };
    const flags = cursor.match(/([imsxJU]*)(?:-([imsx]+))?([:)])/y);
    if (flags === null) throw new PatternError('this kind of group is not supported');
    const before = this.#flags;
    this.#flags = { ...before, ...switched(flags[1]!, true), ...switched(flags[2] ?? '', false) };
    if (flags[3] === ')') return undefined;
    const pattern = this.#grouped();
    this.#flags = before;
    return pattern;
  }

  #grouped(): Pattern {
    const pattern = this.#choice();
    if (!this.#cursor.take(')')) throw new PatternError('missing )');
    return pattern;
  }

  /** How often matters for a match, how eagerly does not. A repetition can't itself be repeated without a group. */
  #repeated(item: Pattern): Pattern {
    const pattern = this.#repetition(item);
    if (pattern === undefined) return item;
    if (this.#repetition(pattern) !== undefined) throw new PatternError('nothing to repeat');
    return pattern;
  }

  #repetition(item: Pattern): Pattern | undefined {
    const cursor = this.#cursor;
    while (this.#skipped());
    const found = cursor.match(/([*+?])|\{(\d{1,6})(,?)(\d{0,6})\}/y);
    if (found === null) return undefined;
    const [, sign, from, comma, to] = found;
    const min = sign === undefined ? Number(from) : sign === '+' ? 1 : 0;
    const open = sign === undefined ? comma === ',' && to === '' : sign !== '?';
    const max = open ? Infinity : sign === '?' ? 1 : comma === '' ? min : Number(to);
    if (max < min || min > repeatMax || (max > repeatMax && max !== Infinity))
      throw new PatternError('number too big or out of order in {} quantifier');
    if (cursor.take('+')) throw new PatternError('possessive quantifiers are not supported');
    cursor.take('?');
    return { kind: 'repeat', item, min, max };
  }
}

const set = (ranges: Ranges): Pattern => ({ kind: 'set', set: new CharSet(ranges) });
const place = (named: Place): Pattern => ({ kind: 'place', place: named });

const namedPlaces: Readonly<Record<string, Place>> = {
  b: 'word edge',
  B: 'no word edge',
  A: 'text start',
  z: 'text end',
  Z: 'end',
};

const lineBreak: Pattern = {
  kind: 'choice',
  items: [{ kind: 'sequence', items: [set([[13, 13]]), set([[10, 10]])] }, set(vertical)],
};

const switched = (letters: string, on: boolean): Partial<Flags> =>
  Object.fromEntries([...letters].map((letter) => [letter, on]));
