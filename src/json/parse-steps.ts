/**
 * Checks and parses a large JSON text in small steps, to the same value that `JSON.parse` gives in one go. Of a large array or
 * object the children are walked over one by one and parsed in runs; a child that is large itself is entered in the same way.
 */
import { isUtf8 } from 'node:buffer';
import { invalidJson } from '../base/errors.js';
import { parseValue } from './scan.js';
import { jsonDepthMax, paused, tooDeep, Walker } from './walker.js';

/** About how much text is walked over and parsed in a step. A container that is larger is taken apart. */
const runBytesDefault = 32 * 1024;
/** So many values are walked over in a step, however short they are. */
const runValuesMax = 8_192;

/** The value of the one JSON text in `bytes`; refuses what is not JSON in UTF-8 from end to end, as `parseJson` does. */
export function* parseInSteps(bytes: Buffer, runBytes = runBytesDefault): Generator<void, unknown> {
  if (!isUtf8(bytes)) throw invalidJson();
  yield;
  const walker = new Walker();
  const start = walker.begin(bytes, 0, bytes.length);
  const parts = new Parts(walker, runBytes);
  const value = yield* parts.read(start);
  if (walker.space(parts.at) !== bytes.length) throw invalidJson();
  return value;
}

/** A container that is taken apart: what has been parsed of it, and where the run begins that has not. */
interface Open {
  readonly array: unknown[] | undefined;
  readonly object: Record<string, unknown>;
  runStart: number;
  values: number;
  /** The name of the member that is being read in parts. */
  name: string;
}

class Parts {
  /** Where the walk is. */
  at = 0;
  readonly #open: Open[] = [];

  constructor(
    private readonly walker: Walker,
    private readonly runBytes: number,
  ) {}

  *read(start: number): Generator<void, unknown> {
    const end = this.#whole(start);
    if (end !== paused) {
      this.at = end;
      return parseValue(this.walker.bytes, start, end);
    }
    this.#enter(start);
    for (;;) {
      const container = this.#open.at(-1)!;
      const keyStart = this.at;
      const valueStart = container.array === undefined ? this.#key(keyStart) : keyStart;
      const valueEnd = this.#whole(valueStart);
      if (valueEnd === paused) {
        this.#parseRun(container, keyStart);
        if (container.array === undefined) container.name = this.#value(keyStart, this.#keyEnd) as string;
        this.#enter(valueStart);
        yield;
        continue;
      }
      this.at = valueEnd;
      container.values++;
      if (valueEnd - container.runStart > this.runBytes || container.values >= runValuesMax) {
        this.#parseRun(container, valueEnd);
        yield;
      }
      while (!this.#goOn()) {
        const { array, object } = this.#open.pop()!;
        const outer = this.#open.at(-1);
        if (outer === undefined) return array ?? object;
        add(outer, array ?? object);
      }
    }
  }

  /** Behind a value, or `paused` where it is too large to be parsed at once. */
  #whole(start: number): number {
    this.walker.pauseAt = start + this.runBytes;
    const end = this.walker.value(start, this.#open.length);
    if (end === paused) this.walker.abandon();
    return end;
  }

  #keyEnd = 0;

  /** Gives where the member's value begins. */
  #key(start: number): number {
    this.#keyEnd = this.walker.key(start, 0);
    this.walker.abandon();
    return this.walker.colon(this.#keyEnd);
  }

  /** There is at least one child in what has paused. */
  #enter(start: number): void {
    if (this.#open.length >= jsonDepthMax) throw tooDeep();
    const isArray = this.walker.bytes[start] === 0x5b;
    this.at = this.walker.space(start + 1);
    this.#open.push({ array: isArray ? [] : undefined, object: {}, runStart: this.at, values: 0, name: '' });
  }

  /** Passes over a comma to the next child; false, behind the container, where there is none. */
  #goOn(): boolean {
    const { walker } = this;
    const container = this.#open.at(-1)!;
    const valueEnd = this.at;
    const at = walker.space(valueEnd);
    const byte = walker.peek(at);
    if (byte === 0x2c) {
      this.at = walker.space(at + 1);
      if (container.values === 0) container.runStart = this.at;
      return true;
    }
    if (byte !== (container.array === undefined ? 0x7d : 0x5d)) throw invalidJson();
    this.#parseRun(container, valueEnd);
    this.at = at + 1;
    return false;
  }

  /** Parses the children that have been walked over since the last time. */
  #parseRun(container: Open, end: number): void {
    if (container.values === 0) return;
    const { array, object, runStart } = container;
    container.values = 0;
    let text = this.walker.bytes.toString('utf8', runStart, end).trimEnd();
    if (text.endsWith(',')) text = text.slice(0, -1);
    if (array === undefined) {
      const members = JSON.parse(`{${text}}`) as Record<string, unknown>;
      for (const name of Object.keys(members)) setMember(object, name, members[name]);
    } else {
      for (const value of JSON.parse(`[${text}]`) as unknown[]) array.push(value);
    }
  }

  #value(start: number, end: number): unknown {
    return parseValue(this.walker.bytes, start, end);
  }
}

function add(container: Open, value: unknown): void {
  if (container.array === undefined) setMember(container.object, container.name, value);
  else container.array.push(value);
}

/** Makes a member `__proto__` one like any other, as `JSON.parse` does. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}
