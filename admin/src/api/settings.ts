import { call, get } from './http.js';

interface Names {
  names?: string[];
  roles?: string[];
}

export interface Security {
  admins?: Names;
  members?: Names;
}

export const readSecurity = (db: string, signal: AbortSignal): Promise<Security> =>
  get([db, '_security'], undefined, signal);

export const saveSecurity = (db: string, security: Security): Promise<unknown> =>
  call('PUT', [db, '_security'], { json: security });

export const readRevsLimit = (db: string, signal: AbortSignal): Promise<number> =>
  get([db, '_revs_limit'], undefined, signal);

export const saveRevsLimit = (db: string, limit: string): Promise<unknown> =>
  call('PUT', [db, '_revs_limit'], { text: limit });

export const cleanUpViews = (db: string): Promise<unknown> =>
  call('POST', [db, '_view_cleanup'], { json: {} });

/** Ranges of hashes, such as `00000000-1fffffff`, and the nodes that hold them. */
export const readShards = async (db: string, signal: AbortSignal): Promise<Record<string, string[]>> =>
  (await get<{ shards: Record<string, string[]> }>([db, '_shards'], undefined, signal)).shards;

export const shardOf = (db: string, id: string): Promise<{ range: string; nodes: string[] }> =>
  get([db, '_shards', id]);
