import { createHash } from 'node:crypto';
import { rangeName, type HashRange } from '../shard/shard-ranges.js';

/** The states that a split goes through, in their order. */
export const splitStates = [
  'initial_copy',
  'topoff1',
  'build_indices',
  'topoff2',
  'copy_local_docs',
  'update_shardmap',
  'wait_source_close',
  'topoff3',
  'source_delete',
] as const;

export type SplitState = 'new' | (typeof splitStates)[number] | 'completed';
export type JobState = 'new' | 'running' | 'stopped' | 'completed' | 'failed';

export interface JobEvent {
  /** Seconds. */
  timestamp: number;
  type: JobState;
  detail: string | null;
}

/** A job that splits one shard, or divides a group, as the node notes it. Times are in seconds. */
export interface ReshardJob {
  id: string;
  /** Absent: it splits a shard. */
  type?: 'divide';
  database: string;
  instance: number;
  /** The number of the shard that is split; of a group that is divided, one that it has. */
  shard: number;
  /** The number of the group that is divided, and into how many. */
  group?: number;
  parts?: number;
  source: string;
  target: string[];
  job_state: JobState;
  split_state: SplitState;
  /** Why it was stopped, or what failed last. */
  reason: string | null;
  /** Set for a job that is stopped because all are: it goes on when they do. */
  held?: true | undefined;
  /** How often it was tried again. */
  retries: number;
  start_time: number;
  update_time: number;
  history: JobEvent[];
}

/** Whether jobs run at all. */
export interface ReshardingState {
  state: 'running' | 'stopped';
  reason: string | null;
}

/** A shard's name in the interface: its range, the database, and ten digits that tell databases of the same name apart. */
export const shardName = (database: string, record: { uuid?: string }, range: HashRange): string =>
  `shards/${rangeName(range)}/${database}.${suffixOf(record)}`;

/** The same for a group, which CouchDB does not have. */
export const groupName = (database: string, record: { uuid?: string }, group: number): string =>
  `groups/${group}/${database}.${suffixOf(record)}`;

const suffixOf = ({ uuid }: { uuid?: string }): string => String(parseInt(uuid ?? '0', 16)).padStart(10, '0');

/** The database that a shard's name names. */
export const databaseOfShard = (name: string): string =>
  name
    .split('/')
    .slice(2)
    .join('/')
    .replace(/\.[^.]*$/, '');

/** The same shard, or group, always has the same job, so that it is not split twice at once. */
export const jobId = (source: string): string => `001-${createHash('sha256').update(source).digest('hex')}`;

export const isActive = ({ job_state }: ReshardJob): boolean =>
  job_state === 'new' || job_state === 'running';

export const isOver = ({ job_state }: ReshardJob): boolean =>
  job_state === 'completed' || job_state === 'failed';

/** The job with what is new of it, and an event in its history where its state is another. */
export function changedJob(
  job: ReshardJob,
  change: Partial<ReshardJob>,
  historyMax: number,
  update_time: number,
): ReshardJob {
  const next = { ...job, ...change, update_time };
  const detail = next.job_state === 'running' ? next.split_state : next.reason;
  const event = { timestamp: update_time, type: next.job_state, detail };
  const last = job.history.at(-1);
  const isSame = last?.type === event.type && last.detail === event.detail;
  const earlier = isSame ? job.history.slice(0, -1) : job.history;
  return { ...next, history: [...earlier, event].slice(-historyMax) };
}

/** A job as the interface shows it. */
export function describeJob(job: ReshardJob, node: string): Record<string, unknown> {
  const { id, source, target, job_state, split_state, reason, start_time, update_time, history } = job;
  return {
    id,
    type: job.type ?? 'split',
    source,
    target,
    job_state,
    split_state,
    state_info: reason === null ? {} : { reason },
    node,
    start_time: isoTime(start_time),
    update_time: isoTime(update_time),
    history: history.map(({ timestamp, type, detail }) => ({ timestamp: isoTime(timestamp), type, detail })),
  };
}

const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
