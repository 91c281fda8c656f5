/**
 * The slow way to a canonical text, for documents with two members of one name.
 *
 * Of members with one name the first gives the place and the last gives the value, as in `JSON.parse`, in every object
 * at every depth. All tokens stay as they are.
 *
 * The text has been scanned, so its grammar need not be looked at again: commas, colons and white space are skipped, and
 * a string in an object is a key whenever no key waits for a value. Texts of containers are joined as they close; V8
 * joins by reference, so the depth does not multiply the copying.
 */
import { asBytes, type Bytes } from '../base/bytes.js';
import type { ScannedObject } from './scan.js';
import { decodeString } from './text.js';

/** Whether to leave out a top-level member; asked only about names that begin with an underscore. */
export type Drop = (name: string) => boolean;

interface Entry {
  readonly key: string;
  value: string;
}

/** An open container; an array has no entries. */
interface Frame {
  readonly entries: Map<string, Entry> | undefined;
  items: string;
  name: string | undefined;
  key: string;
}

/** The canonical text of the object as a byte string. */
export function settle(object: ScannedObject, drop: Drop): Bytes {
  const steps = settleInSteps(object, drop);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const stepTokens = 2_000;

/** The same in small steps, for large objects. */
export function* settleInSteps(object: ScannedObject, drop: Drop): Generator<void, Bytes> {
  const { bytes, end } = object;
  const frames: Frame[] = [];
  let at = object.start;
  for (let tokens = 1; ; tokens++) {
    if (tokens % stepTokens === 0) yield;
    const byte = bytes[at]!;
    const frame = frames.at(-1);
    if (byte === 0x7b || byte === 0x5b) {
      const entries = byte === 0x7b ? new Map<string, Entry>() : undefined;
      frames.push({ entries, items: '', name: undefined, key: '' });
      at++;
    } else if (byte === 0x7d || byte === 0x5d) {
      const text = closed(frames.pop()!, frames.length === 0 ? drop : undefined);
      const outer = frames.at(-1);
      if (outer === undefined) return asBytes(text);
      add(outer, text);
      at++;
    } else if (byte <= 0x20 || byte === 0x2c || byte === 0x3a) {
      at++;
    } else {
      const tokenEnd = byte === 0x22 ? stringEnd(bytes, at) : wordEnd(bytes, at, end);
      const text = bytes.toString('latin1', at, tokenEnd);
      if (frame!.entries !== undefined && frame!.name === undefined) {
        frame!.name = decodeString(bytes, at, tokenEnd);
        frame!.key = text;
      } else {
        add(frame!, text);
      }
      at = tokenEnd;
    }
  }
}

function add(frame: Frame, value: string): void {
  if (frame.entries === undefined) {
    frame.items += frame.items === '' ? value : `,${value}`;
    return;
  }
  const name = frame.name!;
  const entry = frame.entries.get(name);
  if (entry === undefined) frame.entries.set(name, { key: frame.key, value });
  else entry.value = value;
  frame.name = undefined;
}

function closed(frame: Frame, drop: Drop | undefined): string {
  if (frame.entries === undefined) return `[${frame.items}]`;
  let text = '{';
  for (const [name, { key, value }] of frame.entries) {
    if (drop !== undefined && name.startsWith('_') && drop(name)) continue;
    text += text === '{' ? `${key}:${value}` : `,${key}:${value}`;
  }
  return `${text}}`;
}

function stringEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1;
  return at + 1;
}

/** A number or a literal ends where a separator, a bracket or white space stands. */
function wordEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte <= 0x20 || byte === 0x2c || byte === 0x5d || byte === 0x7d) break;
    at++;
  }
  return at;
}
