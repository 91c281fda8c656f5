import { fromBytes, noBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { badRequest, RequestError } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { requirePartitioned } from '../../documents/partition-info.js';
import { checkPartition } from '../../shard/partitions.js';
import type { Exchange } from '../exchange.js';
import { isText } from './path.js';

/** The partition that a path below `_partition` names; undefined for other paths. */
export function pathPartition({ parts, query }: Exchange, database: Database): Bytes | undefined {
  if (parts[1] !== '_partition') return undefined;
  requirePartitioned(database);
  const partition = parts[2] ?? noBytes;
  if (!isText(partition)) throw new RequestError('illegal_partition', 'Partition must be valid UTF-8');
  checkPartition(partition);
  if ((query.first('partition') ?? fromBytes(partition)) !== fromBytes(partition))
    throw badRequest('Conflicting value for `partition` in query string');
  return partition;
}

/** A partition that a parameter names. */
export function namedPartition(name: string): Bytes {
  const partition = toBytes(name.toWellFormed());
  checkPartition(partition);
  return partition;
}
