/** The counters of a shard that follow from what it holds. */
export interface ShardFigures {
  doc_count: number;
  doc_del_count: number;
  tombstones: number;
  stored_bytes: number;
  attachment_bytes: number;
  obsolete_bytes: number;
  external_bytes: number;
}

export const noFigures = (): ShardFigures => ({
  doc_count: 0,
  doc_del_count: 0,
  tombstones: 0,
  stored_bytes: 0,
  attachment_bytes: 0,
  obsolete_bytes: 0,
  external_bytes: 0,
});
