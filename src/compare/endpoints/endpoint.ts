import type { SceneName } from '../scene.js';
import type { ParameterType } from '../values.js';

/** An endpoint as the grid walks it. Its path is of something that the scene has. */
export interface Endpoint {
  /** As `docs/api.md` has it. */
  route: string;
  method: string;
  path: string;
  parameters?: Readonly<Record<string, ParameterType>>;
  /** A right body; each of `members` is tried with every kind of value in its place. */
  body?: unknown;
  members?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** Parameters that are always there, so that others have an effect. */
  query?: string;
  /** Changes what other requests find. */
  writes?: true;
  /** The database it is tried on; `plain` where nothing is said. */
  scene?: SceneName;
}

/** The parameters of listings. */
export const listingParameters: Readonly<Record<string, ParameterType>> = {
  key: 'key',
  keys: 'keys',
  startkey: 'key',
  start_key: 'key',
  endkey: 'key',
  end_key: 'key',
  startkey_docid: 'text',
  start_key_doc_id: 'text',
  endkey_docid: 'text',
  end_key_doc_id: 'text',
  limit: 'number',
  skip: 'number',
  descending: 'boolean',
  inclusive_end: 'boolean',
  include_docs: 'boolean',
  conflicts: 'boolean',
  attachments: 'boolean',
  att_encoding_info: 'boolean',
  update_seq: 'boolean',
  sorted: 'boolean',
  stable: 'boolean',
  reduce: 'boolean',
  group: 'boolean',
  group_level: 'number',
  update: ['true', 'false', 'lazy'],
  stale: ['ok', 'update_after'],
  partition: 'text',
  callback: 'text',
};

export const viewParameters: Readonly<Record<string, ParameterType>> = {
  ...listingParameters,
  key: 'json',
  startkey: 'json',
  start_key: 'json',
  endkey: 'json',
  end_key: 'json',
};

export const readingParameters: Readonly<Record<string, ParameterType>> = {
  rev: 'rev',
  open_revs: ['all', '["2-bb"]', '["2-bb","9-zz"]', '[]', '["x"]', '"all"', '{}', '[1]', '["2-bb"'],
  latest: 'boolean',
  deleted: 'boolean',
  revs: 'boolean',
  revs_info: 'boolean',
  conflicts: 'boolean',
  deleted_conflicts: 'boolean',
  local_seq: 'boolean',
  meta: 'boolean',
  attachments: 'boolean',
  att_encoding_info: 'boolean',
  atts_since: ['["1-a"]', '[]', '["x"]', '{}', '"1-a"', 'x'],
  r: 'number',
};

export const writingParameters: Readonly<Record<string, ParameterType>> = {
  rev: 'rev',
  batch: ['ok', 'no'],
  new_edits: 'boolean',
  w: 'number',
};
