import { fromBytes, type Bytes } from '../base/bytes.js';
import { badRequest, RequestError } from '../base/errors.js';
import { partitionOf } from '../shard/doc-id.js';
import { MemberPicker } from '../json/raw-fields.js';
import { splitContent } from '../shard/content.js';
import type { Database } from '../node/database.js';
import { isDesignId } from '../shard/doc-id.js';
import type { SaveGate } from '../node/save-gate.js';

export function requirePartitioned(database: Database): void {
  if (!database.isPartitioned) throw badRequest('database is not partitioned');
}

/** What `GET /{db}/_partition/{partition}` tells. */
export function partitionInfo(database: Database, partition: Bytes): Record<string, unknown> {
  const counts = database.collection.partition(partition);
  return {
    db_name: database.name,
    sizes: { active: counts.active_bytes, external: counts.external_bytes },
    partition: fromBytes(partition),
    doc_count: counts.doc_count,
    doc_del_count: counts.doc_del_count,
  };
}

const invalidDesign = (reason: string): RequestError => new RequestError('invalid_design_doc', reason);

const optionsMember = new MemberPicker(['options']);

/** A design document may say whether its views have partitions, and can have them only where the database has. */
export const partitionedDesignGate: SaveGate = {
  concerns: (_, id) => isDesignId(id),
  check: (database, input) => {
    if (input.deleted) return input;
    const { options } = JSON.parse(fromBytes(optionsMember.of(splitContent(input.body).body))) as {
      options?: unknown;
    };
    if (typeof options !== 'object' || options === null || !('partitioned' in options)) return input;
    if (typeof options.partitioned !== 'boolean')
      throw invalidDesign('`options.partitioned` field must have boolean type');
    if (options.partitioned && !database.isPartitioned)
      throw invalidDesign('partitioned option cannot be true in a non-partitioned database.');
    return input;
  },
};

/**
 * Closes a partition that has grown too large to all but deletions, documents that become smaller, and what is
 * replicated. Documents on their way at the same moment all pass.
 */
export function partitionSizeGate(bytesMax: () => number): SaveGate {
  return {
    concerns: (database, id) => {
      const partition = database.isPartitioned ? partitionOf(id) : undefined;
      return partition !== undefined && database.collection.partition(partition).external_bytes >= bytesMax();
    },
    check: (_, input, { newEdits, previous }) => {
      if (newEdits && !input.deleted && input.body.length > (previous?.content.length ?? -1))
        throw new RequestError('partition_overflow', `'${fromBytes(input.id)}' exceeds partition limit`);
      return input;
    },
  };
}
