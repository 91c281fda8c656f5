import assert from 'node:assert/strict';
import type { Answer, HttpClient } from '../support/http-client.js';

const waitMs = 60_000;

/** A job as the interface shows it. */
export interface Job {
  id: string;
  source: string;
  target: string[];
  job_state: string;
  split_state: string;
  state_info: { reason?: string };
  start_time: string;
  history: { timestamp: string; type: string; detail: string | null }[];
}

/** Has all shards of a database split; gives the ids of the jobs. */
export async function split(client: HttpClient, db: string, more: object = {}): Promise<string[]> {
  const { status, body } = await client.post('/_reshard/jobs', { type: 'split', db: db.slice(1), ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return (body as { id: string }[]).map(({ id }) => id);
}

/** Has all groups of a database divided; gives the ids of the jobs. */
export async function divide(client: HttpClient, db: string, more: object = {}): Promise<string[]> {
  const { status, body } = await client.post('/_reshard/jobs', { type: 'divide', db: db.slice(1), ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return (body as { id: string }[]).map(({ id }) => id);
}

/** Divides all groups and waits until that is done; gives the jobs. */
export async function divideAll(client: HttpClient, db: string, more: object = {}): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const id of await divide(client, db, more)) {
    jobs.push(await until(client, id, 'completed'));
    assert.equal((await client.delete(`/_reshard/jobs/${id}`)).status, 200);
  }
  return jobs;
}

export async function job(client: HttpClient, id: string): Promise<Job> {
  const { status, body } = await client.get(`/_reshard/jobs/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as Job;
}

/** Waits until a job is in a state. */
export async function until(client: HttpClient, id: string, state: string): Promise<Job> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await job(client, id);
    if (found.job_state === state) return found;
    const isOver = found.job_state === 'failed' || Date.now() > deadline;
    if (isOver) assert.fail(`the job is not ${state}: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Splits all shards and waits until that is done. */
export async function splitAll(client: HttpClient, db: string): Promise<void> {
  for (const id of await split(client, db)) {
    await until(client, id, 'completed');
    assert.equal((await client.delete(`/_reshard/jobs/${id}`)).status, 200);
  }
}

export const ranges = async (client: HttpClient, db: string): Promise<string[]> =>
  Object.keys((await client.get(`${db}/_shards`)).body.shards as object);

/** A client that throws instead of sending, once it is told to: those who write until the server is gone stop then. */
export function stoppable(client: HttpClient): { client: HttpClient; stop: () => void } {
  let isStopped = false;
  const gated = new Proxy(client, {
    get: (target, name: keyof HttpClient) => {
      const member: unknown = target[name];
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): Promise<Answer> => {
        if (isStopped) throw new Error('stopped');
        return (member as (...given: unknown[]) => Promise<Answer>).apply(target, given);
      };
    },
  });
  return { client: gated, stop: () => void (isStopped = true) };
}
