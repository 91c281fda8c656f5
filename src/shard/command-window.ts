import { asBytes, ByteReader, u48, type Bytes } from '../base/bytes.js';
import type { Appended } from '../log/log.js';
import type { Results } from './commands.js';
import type { DatabaseKeys } from './keys.js';
import { decodeResult, encodeResult } from './result-codec.js';
import type { GroupView } from './write-view.js';

/**
 * The last commands of a group that carried an id, with their results: one that comes again is not applied again, and is
 * answered as it was. They are records of the group, so that replicas agree and a restart forgets nothing. The embedded log
 * gives no ids, and then there are none of these records.
 *
 * A log may repeat a command as long as fewer than `commandsMax` others with ids have come, and their results have fewer
 * than `resultBytesMax`.
 */
const commandsMax = 10_000;
const resultBytesMax = 4 * 1024 * 1024;

/** Numbers of the ids that are remembered: from the first up to, and without, the next. */
interface Window {
  from: number;
  next: number;
  /** Of what is stored for them. */
  bytes: number;
}

type View = Pick<GroupView, 'get' | 'put' | 'remove'>;

/** What a command with that id was answered, if it is known. */
export function rememberedResult(
  keys: DatabaseKeys,
  view: Pick<View, 'get'>,
  id: Bytes,
): Appended<Results[keyof Results]> | undefined {
  const bytes = view.get(keys.command(id));
  if (bytes === undefined) return undefined;
  const reader = new ByteReader(bytes);
  return { position: reader.u48(), result: decodeResult(reader) };
}

/** Remembers what a command was answered, and forgets the oldest where there are too many. */
export function rememberResult(
  keys: DatabaseKeys,
  view: View,
  id: Bytes,
  position: number,
  [type, result]: Parameters<typeof encodeResult>,
): void {
  const window = readWindow(view.get(keys.commandWindow));
  const value = asBytes(u48(position) + encodeResult(type, result));
  view.put(keys.command(id), value);
  view.put(keys.commandNumber(window.next++), id);
  window.bytes += value.length;
  while (
    window.next - window.from > commandsMax ||
    (window.bytes > resultBytesMax && window.next - window.from > 1)
  )
    forgetOldest(keys, view, window);
  view.put(keys.commandWindow, asBytes(u48(window.from) + u48(window.next) + u48(window.bytes)));
}

function forgetOldest(keys: DatabaseKeys, view: View, window: Window): void {
  const numberKey = keys.commandNumber(window.from++);
  const id = view.get(numberKey)!;
  const key = keys.command(id);
  window.bytes -= view.get(key)!.length;
  view.remove(key);
  view.remove(numberKey);
}

function readWindow(bytes: Bytes | undefined): Window {
  if (bytes === undefined) return { from: 0, next: 0, bytes: 0 };
  const reader = new ByteReader(bytes);
  return { from: reader.u48(), next: reader.u48(), bytes: reader.u48() };
}
