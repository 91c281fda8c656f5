import { call, get } from './http.js';

export type JobState = 'new' | 'running' | 'stopped' | 'completed' | 'failed';

/** A job that splits one shard in two. */
export interface ReshardJob {
  id: string;
  /** The name of the shard that is split: `shards/00000000-7fffffff/orders.1700000000`. */
  source: string;
  job_state: JobState;
  split_state: string;
  state_info: { reason?: string };
  update_time: string;
}

export interface Resharding {
  state: 'running' | 'stopped';
  reason: string | null;
  jobs: ReshardJob[];
}

export async function readResharding(signal: AbortSignal): Promise<Resharding> {
  const [{ state, reason }, { jobs }] = await Promise.all([
    get<Pick<Resharding, 'state' | 'reason'>>(['_reshard', 'state'], undefined, signal),
    get<Pick<Resharding, 'jobs'>>(['_reshard', 'jobs'], undefined, signal),
  ]);
  return { state, reason, jobs };
}

export const setResharding = (state: Resharding['state']): Promise<unknown> =>
  call('PUT', ['_reshard', 'state'], { json: { state } });

/** Splits one range of a database in two, or each of them. */
export const splitShards = (db: string, range: string | undefined): Promise<unknown> =>
  call('POST', ['_reshard', 'jobs'], { json: { type: 'split', db, ...(range && { range }) } });

export const setJobState = (id: string, state: 'running' | 'stopped'): Promise<unknown> =>
  call('PUT', ['_reshard', 'jobs', id, 'state'], { json: { state } });

export const deleteJob = (id: string): Promise<unknown> => call('DELETE', ['_reshard', 'jobs', id]);

/** The database and the range that a shard's name tells. */
export function partsOfShard(name: string): { db: string; range: string } {
  const [, range = '', db = name] = /^shards\/([0-9a-f]+-[0-9a-f]+)\/(.*)\.\d+$/s.exec(name) ?? [];
  return { db, range };
}

/** Whether a job will go on, now or when resharding is on again. */
export const isUnderWay = ({ job_state: state }: ReshardJob): boolean =>
  state === 'new' || state === 'running';
