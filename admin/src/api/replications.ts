import { call, get } from './http.js';

export interface Replication {
  database: string;
  doc_id: string;
  source: string;
  target: string;
  state: string;
  error_count: number;
  start_time: string;
  last_updated: string;
  info: ({ error?: string } & Record<string, unknown>) | null;
}

export interface Job {
  doc_id: string | null;
  history: { timestamp: string; type: string; reason?: string }[];
}

export const replications = async (signal: AbortSignal): Promise<Replication[]> =>
  (await get<{ docs: Replication[] }>(['_scheduler', 'docs'], { limit: 200 }, signal)).docs;

export const jobs = async (signal: AbortSignal): Promise<Job[]> =>
  (await get<{ jobs: Job[] }>(['_scheduler', 'jobs'], { limit: 200 }, signal)).jobs;

export interface Endpoint {
  /** A database of this server, or an address. */
  place: string;
  user: string;
  password: string;
}

export interface NewReplication {
  id: string;
  source: Endpoint;
  target: Endpoint;
  isContinuous: boolean;
  createsTarget: boolean;
  selector: string;
}

function endpointOf({ place, user, password }: Endpoint): unknown {
  const url = /^https?:\/\//.test(place)
    ? place
    : new URL(`../${encodeURIComponent(place)}`, document.baseURI).href;
  return user === '' ? url : { url, auth: { basic: { username: user, password } } };
}

export const createReplication = ({
  id,
  source,
  target,
  isContinuous,
  createsTarget,
  selector,
}: NewReplication): Promise<unknown> => {
  const json = {
    source: endpointOf(source),
    target: endpointOf(target),
    continuous: isContinuous,
    create_target: createsTarget,
    ...(selector === '' ? {} : { selector: JSON.parse(selector) as unknown }),
  };
  if (id === '') return call('POST', ['_replicator'], { json });
  return call('PUT', ['_replicator', id], { json });
};

/** Deleting the document ends the replication. */
export async function cancelReplication(id: string): Promise<void> {
  const { _rev: rev } = await get<{ _rev: string }>(['_replicator', id]);
  await call('DELETE', ['_replicator', id], { query: { rev } });
}
