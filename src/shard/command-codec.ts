import {
  asBytes,
  ByteReader,
  fromBytes,
  lengthPrefixed,
  toBytes,
  u48,
  u8,
  varint,
  type Bytes,
} from '../base/bytes.js';
import { fromHex, toHex } from './blob-record.js';
import type {
  AssembledCommand,
  CloseCommand,
  Command,
  CompactCommand,
  Edit,
  EditCommand,
  FragmentCommand,
  LocalCommand,
  LocalEdit,
  PurgeCommand,
  SplitCommand,
  SplitStep,
  ValidatorsCommand,
} from './commands.js';
import type { CopiedTable } from './split.js';
import { encodeRev, readRev } from './doc-record.js';
import type { RevPath } from '../revisions/tree.js';

/**
 * Commands as bytes, for a log that carries them from one replica to the others: applying what was read there writes
 * the same bytes as applying the command itself. The queue of the embedded server has both ends in one process, so it
 * passes commands as they are.
 *
 *   version(1) type(1) instance(6) shard(varint) [id] …
 *
 * The version comes first in every command, so that a log may hold commands of several versions.
 * `docs/formats/commands.md` has the rest.
 */
const version = 1;
const typeNumbers = {
  edit: 1,
  local: 2,
  purge: 3,
  compact: 4,
  split: 5,
  validators: 6,
  fragment: 7,
  assembled: 8,
  close: 9,
} as const;
const splitSteps: readonly SplitStep[] = ['begin', 'copy', 'swap', 'abort', 'remove', 'end'];
const splitTables: readonly CopiedTable[] = ['changes', 'purges'];
const flag = { deleted: 1, path: 2, parent: 4 } as const;
const digestBytes = 32;
/** These stand in the byte of the type; the last one in edits only. */
const partitionedBit = 0x40;
const namedBit = 0x80;
const compactingBit = 0x20;

type Place = Pick<Command, 'instance' | 'shard' | 'partitioned' | 'id'>;

export function encodeCommand(command: Command): Bytes {
  const { id } = command;
  const bits = (command.partitioned ? partitionedBit : 0) | (id === undefined ? 0 : namedBit);
  const compacting = command.type === 'edit' && command.compacting ? compactingBit : 0;
  const type = u8(typeNumbers[command.type] | bits | compacting);
  const place = u48(command.instance) + varint(command.shard);
  const head = u8(version) + type + place + (id === undefined ? '' : lengthPrefixed(id));
  switch (command.type) {
    case 'edit':
      return asBytes(head + encodeEdits(command));
    case 'local':
      return asBytes(head + encodeList(command.edits, encodeLocalEdit));
    case 'purge':
      return asBytes(
        head +
          lengthPrefixed(toBytes(command.uuid)) +
          encodeList(command.purges, encodePurge) +
          encodeOptional(command.validators),
      );
    case 'compact':
      return asBytes(head + varint(command.purged_infos_limit) + encodeList(command.ids, lengthPrefixed));
    case 'split':
      return asBytes(head + encodeSplitStep(command));
    case 'validators':
      return asBytes(head + encodeOptional(command.expected) + lengthPrefixed(command.value));
    case 'fragment':
      return asBytes(
        head + lengthPrefixed(command.upload) + varint(command.at) + lengthPrefixed(command.bytes),
      );
    case 'assembled':
      return asBytes(head + lengthPrefixed(command.upload) + varint(command.fragments));
    case 'close':
      return asBytes(head + u8(command.closed ? 1 : 0));
  }
}

export function decodeCommand(bytes: Bytes): Command {
  const reader = new ByteReader(bytes);
  const found = reader.u8();
  if (found !== version) throw new Error(`a command has version ${found}; this server reads ${version}`);
  const type = reader.u8();
  const place: Place = {
    instance: reader.u48(),
    shard: reader.varint(),
    ...(type & partitionedBit ? { partitioned: true } : {}),
    ...(type & namedBit ? { id: readText(reader) } : {}),
  };
  const command = readCommand(type & ~(partitionedBit | namedBit), place, reader);
  if (!reader.done) throw new Error('a command is damaged: it goes on behind its end');
  return command;
}

function readCommand(type: number, place: Place, reader: ByteReader): Command {
  switch (type) {
    case typeNumbers.edit:
      return readEdits(place, reader);
    case typeNumbers.edit | compactingBit:
      return { ...readEdits(place, reader), compacting: true };
    case typeNumbers.local:
      return { type: 'local', ...place, edits: readList(reader, readLocalEdit) } satisfies LocalCommand;
    case typeNumbers.purge:
      return {
        type: 'purge',
        ...place,
        uuid: fromBytes(readText(reader)),
        purges: readList(reader, readPurge),
        ...readValidators(reader),
      } satisfies PurgeCommand;
    case typeNumbers.compact:
      return {
        type: 'compact',
        ...place,
        purged_infos_limit: reader.varint(),
        ids: readList(reader, readText),
      } satisfies CompactCommand;
    case typeNumbers.split:
      return readSplitStep(place, reader);
    case typeNumbers.validators:
      return {
        type: 'validators',
        ...place,
        expected: readOptional(reader),
        value: readText(reader),
      } satisfies ValidatorsCommand;
    case typeNumbers.fragment:
      return {
        type: 'fragment',
        ...place,
        upload: readText(reader),
        at: reader.varint(),
        bytes: readText(reader),
      } satisfies FragmentCommand;
    case typeNumbers.assembled:
      return {
        type: 'assembled',
        ...place,
        upload: readText(reader),
        fragments: reader.varint(),
      } satisfies AssembledCommand;
    case typeNumbers.close:
      return { type: 'close', ...place, closed: reader.u8() === 1 } satisfies CloseCommand;
    default:
      throw new Error(`a command is of an unknown type, ${type}`);
  }
}

function encodeSplitStep({ step, table, q, of, after, upTo, numbers }: SplitCommand): Bytes {
  const kind = u8(splitSteps.indexOf(step)) + u8(splitTables.indexOf(table));
  return asBytes(kind + varint(q) + varint(of) + varint(after) + varint(upTo) + encodeList(numbers, varint));
}

function readSplitStep(place: Place, reader: ByteReader): SplitCommand {
  const step = splitSteps[reader.u8()];
  const table = splitTables[reader.u8()];
  if (step === undefined || table === undefined) throw new Error('a command is damaged: a step is unknown');
  const q = reader.varint();
  const of = reader.varint();
  const after = reader.varint();
  const upTo = reader.varint();
  const numbers = readList(reader, () => reader.varint());
  return { type: 'split', ...place, step, table, q, of, after, upTo, numbers };
}

/** No blobs and an empty list of them are the same. */
function encodeEdits({ revs_limit, edits, validators, small_blobs, stored_blobs }: EditCommand): Bytes {
  const small = encodeList([...(small_blobs ?? [])], ([blob, bytes]) =>
    asBytes(fromHex(blob) + lengthPrefixed(bytes)),
  );
  const stored = encodeList([...(stored_blobs ?? [])], fromHex);
  return asBytes(
    varint(revs_limit) + encodeOptional(validators) + encodeList(edits, encodeEdit) + small + stored,
  );
}

function readEdits(place: Place, reader: ByteReader): EditCommand {
  const revs_limit = reader.varint();
  const validators = readValidators(reader);
  const edits = readList(reader, readEdit);
  const small = readList(reader, (): [string, Bytes] => [readDigest(reader), readText(reader)]);
  const stored = readList(reader, readDigest);
  return {
    type: 'edit',
    ...place,
    revs_limit,
    ...validators,
    edits,
    ...(small.length === 0 ? {} : { small_blobs: new Map(small) }),
    ...(stored.length === 0 ? {} : { stored_blobs: new Set(stored) }),
  };
}

function encodeEdit({ id, parent, path, deleted, body }: Edit): Bytes {
  const flags =
    (deleted ? flag.deleted : 0) |
    (path === undefined ? 0 : flag.path) |
    (parent === undefined ? 0 : flag.parent);
  const origin = path === undefined ? (parent === undefined ? '' : encodeRev(parent)) : encodePath(path);
  return asBytes(u8(flags) + lengthPrefixed(id) + origin + lengthPrefixed(body));
}

function readEdit(reader: ByteReader): Edit {
  const flags = reader.u8();
  const id = readText(reader);
  const deleted = (flags & flag.deleted) !== 0;
  if (flags & flag.path) {
    return { id, parent: undefined, path: readPath(reader), deleted, body: readText(reader) };
  }
  const parent = flags & flag.parent ? readRev(reader) : undefined;
  return { id, parent, path: undefined, deleted, body: readText(reader) };
}

/** A history is written as the revisions it names, the newest first. */
const encodePath = ({ start, hashes }: RevPath): Bytes =>
  encodeList(
    hashes.map((hash, at) => ({ pos: start - at, hash })),
    encodeRev,
  );

function readPath(reader: ByteReader): RevPath {
  const revs = readList(reader, readRev);
  if (revs.length === 0) throw new Error('a command is damaged: a history is empty');
  return { start: revs[0]!.pos, hashes: revs.map(({ hash }) => hash) };
}

const encodeLocalEdit = ({ id, rev, body }: LocalEdit): Bytes =>
  asBytes(lengthPrefixed(id) + varint(rev) + lengthPrefixed(body));

const readLocalEdit = (reader: ByteReader): LocalEdit => ({
  id: readText(reader),
  rev: reader.varint(),
  body: readText(reader),
});

type Purge = PurgeCommand['purges'][number];

const encodePurge = ({ id, revs }: Purge): Bytes => asBytes(lengthPrefixed(id) + encodeList(revs, encodeRev));

const readPurge = (reader: ByteReader): Purge => ({ id: readText(reader), revs: readList(reader, readRev) });

/** A text that may be absent: nothing, or 1 and the text. */
const encodeOptional = (bytes: Bytes | undefined): Bytes =>
  bytes === undefined ? u8(0) : asBytes(u8(1) + lengthPrefixed(bytes));

const readOptional = (reader: ByteReader): Bytes | undefined =>
  reader.u8() === 0 ? undefined : readText(reader);

function readValidators(reader: ByteReader): { validators?: Bytes } {
  const validators = readOptional(reader);
  return validators === undefined ? {} : { validators };
}

const readText = (reader: ByteReader): Bytes => reader.take(reader.varint());

const readDigest = (reader: ByteReader): string => toHex(reader.take(digestBytes));

function encodeList<T>(items: readonly T[], encode: (item: T) => Bytes): Bytes {
  let bytes: string = varint(items.length);
  for (const item of items) bytes += encode(item);
  return asBytes(bytes);
}

/** A damaged number of items does no harm: reading the first one that is missing throws. */
function readList<T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] {
  const items: T[] = [];
  for (let left = reader.varint(); left > 0; left--) items.push(read(reader));
  return items;
}
