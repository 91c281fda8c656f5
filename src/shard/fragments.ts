import { createHash } from 'node:crypto';
import { asBytes, ByteReader, lengthPrefixed, noBytes, varint, type Bytes } from '../base/bytes.js';
import { commandBytesMax } from '../log/log.js';
import { Rejection } from '../log/rejection.js';
import { decodeCommand, encodeCommand } from './command-codec.js';
import type { AssembledCommand, Command, FragmentCommand, WholeCommand } from './commands.js';
import type { DatabaseKeys } from './keys.js';
import type { GroupView } from './write-view.js';

/**
 * A command that has too many bytes for a log, since a document is large, travels as several: its bytes in fragments, which
 * the group keeps, and one that has the group put them together and apply them. So what `apply` does depends on the group
 * and the log alone, also where a replica reads the log much later.
 */

/** What is left for the bytes of a fragment beside its head. */
const fragmentBytes = commandBytesMax - 200;

/**
 * Bytes of fragments that wait to be put together, by which the oldest are given up: they are of writers that stopped half-way.
 * The newest are kept, however many bytes they are.
 */
const waitingBytesMax = 128 * 1024 * 1024;

/** The fragments of a command that are there. */
interface Waiting {
  upload: Bytes;
  count: number;
  bytes: number;
}

type View = Pick<GroupView, 'get' | 'put' | 'remove'>;

/** Some fragments of a command were given up, or never came. */
class FragmentsMissing extends Rejection {
  constructor() {
    super('fragments of a command are missing; it has to be sent again');
  }
}

/** A command as a log takes it that carries bytes: as it is, or in fragments. Each has been encoded and decoded. */
export const asPieces = (command: Command): Command[] =>
  encodedPieces(command, (whole) =>
    asBytes(createHash('sha256').update(whole, 'latin1').digest('latin1')),
  ).map(decodeCommand);

/** The same, encoded. Fragments of a command without an id are found by what `nameUpload` gives. */
export function encodedPieces(command: Command, nameUpload: (whole: Bytes) => Bytes): Bytes[] {
  const { id, ...unnamed } = command;
  const bytes = encodeCommand(command);
  if (bytes.length <= commandBytesMax) return [bytes];
  const whole = encodeCommand(unnamed as Command);
  const upload = id ?? nameUpload(whole);
  const place = { instance: command.instance, shard: command.shard };
  const pieces: Command[] = [];
  for (let start = 0; start < whole.length; start += fragmentBytes) {
    const at = pieces.length;
    const fragment = {
      type: 'fragment',
      ...place,
      upload,
      at,
      bytes: whole.slice(start, start + fragmentBytes),
    } as const;
    pieces.push({ ...fragment, ...(id !== undefined && { id: subId(id, `f${at}`) }) });
  }
  pieces.push({
    type: 'assembled',
    ...place,
    upload,
    fragments: pieces.length,
    ...(id !== undefined && { id }),
  });
  return pieces.map(encodeCommand);
}

/** The id of a part of a command. */
export const subId = (id: Bytes, part: string): Bytes => asBytes(`${id}.${part}`);

export function applyFragment(command: FragmentCommand, keys: DatabaseKeys, view: View): void {
  const { upload, at, bytes } = command;
  const list = readList(view.get(keys.fragmentList));
  let waiting = list.find((each) => each.upload === upload);
  if (waiting === undefined) list.push((waiting = { upload, count: 0, bytes: 0 }));
  const key = keys.fragment(upload, at);
  waiting.bytes += bytes.length - (view.get(key)?.length ?? 0);
  waiting.count = Math.max(waiting.count, at + 1);
  view.put(key, bytes);
  for (let sum = sumOf(list); sum > waitingBytesMax && list.length > 1; sum = sumOf(list))
    remove(list.shift()!, keys, view);
  writeList(list, keys, view);
}

/** The command that was brought by fragments. */
export function assemble(
  { upload, fragments }: AssembledCommand,
  keys: DatabaseKeys,
  view: View,
): WholeCommand {
  let bytes = '';
  for (let at = 0; at < fragments; at++) {
    const fragment = view.get(keys.fragment(upload, at));
    if (fragment === undefined) throw new FragmentsMissing();
    bytes += fragment;
  }
  const command = decodeCommand(asBytes(bytes));
  if (command.type === 'fragment' || command.type === 'assembled')
    throw new Error('a command is damaged: fragments of fragments');
  return command;
}

/** Removes the fragments of a command that has been applied. */
export function dropFragments({ upload }: AssembledCommand, keys: DatabaseKeys, view: View): void {
  const list = readList(view.get(keys.fragmentList));
  const at = list.findIndex((each) => each.upload === upload);
  if (at < 0) return;
  remove(list.splice(at, 1)[0]!, keys, view);
  writeList(list, keys, view);
}

function remove({ upload, count }: Waiting, keys: DatabaseKeys, view: View): void {
  for (let at = 0; at < count; at++) view.remove(keys.fragment(upload, at));
}

const sumOf = (list: readonly Waiting[]): number => list.reduce((sum, { bytes }) => sum + bytes, 0);

function writeList(list: readonly Waiting[], keys: DatabaseKeys, view: View): void {
  if (list.length === 0) view.remove(keys.fragmentList);
  else
    view.put(
      keys.fragmentList,
      asBytes(
        list
          .map(({ upload, count, bytes }) => lengthPrefixed(upload) + varint(count) + varint(bytes))
          .join(''),
      ),
    );
}

function readList(bytes: Bytes | undefined): Waiting[] {
  const list: Waiting[] = [];
  for (const reader = new ByteReader(bytes ?? noBytes); !reader.done;)
    list.push({ upload: reader.take(reader.varint()), count: reader.varint(), bytes: reader.varint() });
  return list;
}
