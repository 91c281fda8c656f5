import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SystemRuntime } from '../base/runtime.js';
import type { Catalogue } from './catalogue.js';
import { ReshardBook } from './reshard-book.js';
import type { ReshardJob } from './reshard-job.js';
import { ReshardRecords } from './reshard-records.js';

const job: ReshardJob = {
  id: '001-a',
  database: 'db',
  instance: 1,
  shard: 0,
  source: 'shards/00000000-ffffffff/db.1',
  target: ['shards/00000000-7fffffff/db.1', 'shards/80000000-ffffffff/db.1'],
  job_state: 'new',
  split_state: 'new',
  reason: null,
  retries: 0,
  start_time: 0,
  update_time: 0,
  history: [],
};

test('a job that could not be stored is not known, and can be created later', async () => {
  const disk = { isFull: true };
  const catalogue = {
    resharding: { state: 'running', reason: null },
    reshardJobs: () => [],
    journal: {
      record: () => (disk.isFull ? Promise.reject(new Error('the disk is full')) : Promise.resolve()),
    },
  } as unknown as Catalogue;
  const membership = { cluster: undefined, shared: () => new Map(), share: () => Promise.resolve() };
  const book = new ReshardBook(new ReshardRecords(catalogue, membership), () => 10, new SystemRuntime());
  await assert.rejects(book.add(job, {}), /the disk is full/);
  assert.equal(book.find(job.id), undefined);
  disk.isFull = false;
  await book.add(job, {});
  assert.equal(book.get(job.id).job_state, 'new');
});
