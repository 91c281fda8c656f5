import { asBytes, fromBytes, toBytes, u8, varint, type ByteReader, type Bytes } from '../base/bytes.js';
import type { EditResult, PurgeResult, Results, SplitProgress, WholeCommand } from './commands.js';
import { encodeRev, readRev } from './doc-record.js';

/**
 * Results of commands as bytes, for commands that are remembered by their ids: a repeated one gets the same. The first byte
 * says of what type of command it is. `docs/formats/volume.md` has the rest.
 */
const kind = { nothing: 0, edits: 1, purges: 2, split: 3, flag: 4 } as const;
const outcome = { rev: 0, conflict: 1, missing_blob: 2, retry: 3 } as const;

export function encodeResult(type: WholeCommand['type'] | 'fragment', result: unknown): Bytes {
  switch (type) {
    case 'edit':
      return asBytes(u8(kind.edits) + encodeEach(result as EditResult[], encodeEditResult));
    case 'purge':
      return asBytes(u8(kind.purges) + encodeEach(result as PurgeResult[], encodePurgeResult));
    case 'split':
      return asBytes(u8(kind.split) + toBytes(JSON.stringify(result)));
    case 'validators':
      return asBytes(u8(kind.flag) + u8(result === true ? 1 : 0));
    case 'local':
    case 'compact':
    case 'close':
    case 'fragment':
      return u8(kind.nothing);
  }
}

export function decodeResult(reader: ByteReader): Results[keyof Results] {
  switch (reader.u8()) {
    case kind.edits:
      return readEach(reader, readEditResult);
    case kind.purges:
      return readEach(reader, readPurgeResult);
    case kind.split:
      return readProgress(JSON.parse(fromBytes(reader.rest())) as Partial<SplitProgress>);
    case kind.flag:
      return reader.u8() === 1;
    default:
      return undefined;
  }
}

const readProgress = ({ isSplit = false, split }: Partial<SplitProgress>): SplitProgress => ({
  isSplit,
  split,
});

function encodeEditResult(result: EditResult): Bytes {
  if (typeof result === 'object') return asBytes(u8(outcome.rev) + encodeRev(result));
  return u8(result === undefined ? outcome.conflict : outcome[result]);
}

function readEditResult(reader: ByteReader): EditResult {
  switch (reader.u8()) {
    case outcome.rev:
      return readRev(reader);
    case outcome.missing_blob:
      return 'missing_blob';
    case outcome.retry:
      return 'retry';
    default:
      return undefined;
  }
}

const encodePurgeResult = (result: PurgeResult): Bytes =>
  result === 'retry' ? u8(outcome.retry) : asBytes(u8(outcome.rev) + encodeEach(result, encodeRev));

const readPurgeResult = (reader: ByteReader): PurgeResult =>
  reader.u8() === outcome.retry ? 'retry' : readEach(reader, readRev);

const encodeEach = <T>(items: readonly T[], encode: (item: T) => Bytes): Bytes =>
  items.reduce((bytes, item) => asBytes(bytes + encode(item)), varint(items.length));

const readEach = <T>(reader: ByteReader, read: (reader: ByteReader) => T): T[] =>
  Array.from({ length: reader.varint() }, () => read(reader));
