import { asBytes, fromBytes, readU16, readU48, type Bytes } from '../base/bytes.js';
import type { CorruptRecord } from '../base/corrupt-record.js';
import { RequestError } from '../base/errors.js';
import { tables } from './keys.js';

const prefixBytes = 6;
const nameBytesMax = 200;

/** What a key of a volume stands for, in words; undefined for what has no name. */
function nameOfKey(key: Bytes): string | undefined {
  const rest = key.slice(prefixBytes);
  switch (key.charCodeAt(prefixBytes - 1)) {
    case tables.live:
    case tables.deleted:
    case tables.local:
      return `the document ${fromBytes(rest.slice(0, nameBytesMax))}`;
    case tables.changes:
      return `the change ${readU48(rest, 2)} of the shard ${readU16(rest, 0)}`;
    case tables.bodies:
      return `the body ${readU48(rest, 2)} of the shard ${readU16(rest, 0)}`;
    case tables.state:
      return 'the counters of the database';
    default:
      return undefined;
  }
}

/** The answer to a request that met a damaged record. */
export function damagedRecord(asked: string, { message, key }: CorruptRecord): RequestError {
  const name = key === undefined ? undefined : nameOfKey(asBytes(key));
  return new RequestError(
    'damaged_record',
    `What is stored for ${asked} is damaged: ${message}${name === undefined ? '' : ` (${name})`}.`,
  );
}
