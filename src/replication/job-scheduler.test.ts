import { SystemRuntime } from '../base/runtime.js';
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '../base/errors.js';
import { createLogger } from '../base/logger.js';
import { anonymous } from '../base/user-context.js';
import { Config } from '../config/config.js';
import { Job, type JobRun } from './job.js';
import { JobScheduler } from './job-scheduler.js';
import type { LocalDoc } from './peer.js';
import { parseSpec } from './spec.js';
import { Stats } from './stats.js';

const logger = createLogger({ level: 'none' });
const gone = new RequestError('replication_failed', 'gone');

/** A run that a test ends as it likes. */
class FakeRun implements JobRun {
  readonly startedAt = new Date();
  readonly pid = '<0.1.0>';
  readonly stats = new Stats();
  readonly standing = undefined;
  readonly opened = Promise.resolve();
  readonly ended: Promise<LocalDoc>;
  complete!: (answer: LocalDoc) => void;
  crash!: (error: unknown) => void;
  stopped = false;

  constructor() {
    this.ended = new Promise((resolve, reject) => {
      this.complete = resolve;
      this.crash = reject;
    });
  }

  stop(): Promise<void> {
    this.stopped = true;
    this.crash(new Error('stopped'));
    return Promise.resolve();
  }
}

const open: JobScheduler[] = [];
afterEach(() => Promise.all(open.splice(0).map((each) => each.close(gone))));

function scene(replicator: Record<string, string> = {}, backoffMs = '20') {
  const config = new Config({ overrides: { replicator, tuffet: { replication_backoff_ms: backoffMs } } });
  const runs = new Map<string, FakeRun[]>();
  const runtime = new SystemRuntime();
  const start = (job: Job): FakeRun => {
    const run = new FakeRun();
    runs.set(job.id, [...(runs.get(job.id) ?? []), run]);
    return run;
  };
  const scheduler = new JobScheduler(config, logger, start, runtime);
  open.push(scheduler);
  const told: string[] = [];
  const add = (name: string, continuous = true, again = true): Job => {
    const body = { source: 'a', target: name, continuous };
    const spec = parseSpec(body, { config, user: anonymous, localNames: true });
    const job = new Job({ base: name, extension: '' }, spec, undefined, runtime);
    scheduler.add(job, {
      completed: ({ id }) => told.push(`${id} completed`),
      crashed: ({ id }) => {
        told.push(`${id} crashed`);
        return again;
      },
    });
    return job;
  };
  const running = () => scheduler.list().flatMap(({ id, run }) => (run === undefined ? [] : [id]));
  return { config, scheduler, runs, told, add, running };
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400 && !condition(); tries++) await sleep(5);
  assert.ok(condition());
}

describe('the scheduler', () => {
  test('starts a job at once, tells of its end and forgets it', async () => {
    const { add, runs, told, scheduler } = scene();
    const job = add('x', false);
    assert.equal(job.state, 'running');
    const answer = job.wait();
    runs.get('x')![0]!.complete({ ok: true });
    assert.deepEqual(await answer, { ok: true });
    assert.deepEqual(told, ['x completed']);
    assert.equal(scheduler.get('x'), undefined);
  });

  test('runs as many as it may, and the others when there is room', async () => {
    const { add, running, runs } = scene({ max_jobs: '2' });
    const third = ['a', 'b', 'c'].map((name) => add(name)).at(-1)!;
    assert.deepEqual(running(), ['a', 'b']);
    assert.equal(third.state, 'pending');
    runs.get('a')![0]!.complete({});
    await until(() => running().join() === 'b,c');
  });

  test('lets continuous ones take turns, a few at a time, and never those with an end', async () => {
    const { add, running, runs } = scene({ max_jobs: '2', interval: '40', max_churn: '1' });
    add('once', false);
    for (const name of ['a', 'b', 'c']) add(name);
    const seen = new Set<string>();
    await until(() => {
      for (const name of running()) seen.add(name);
      assert.ok(running().length <= 2);
      return seen.size === 4;
    });
    assert.equal(runs.get('once')!.length, 1);
    assert.equal(runs.get('once')![0]!.stopped, false);
    assert.ok(runs.get('a')![0]!.stopped);
  });

  test('tries again what failed, each time after twice as long', async () => {
    const { add, runs, told } = scene({}, '30');
    const job = add('x');
    const starts: number[] = [];
    for (let n = 0; n < 4; n++) {
      await until(() => runs.get('x')!.length === n + 1);
      starts.push(performance.now());
      runs.get('x')![n]!.crash(new RequestError('db_not_found', 'could not open it'));
      await until(() => job.state === 'crashing');
      assert.equal(job.errorCount, n + 1);
      assert.deepEqual(job.info, { error: 'db_not_found: could not open it' });
    }
    const waits = starts.slice(1).map((time, n) => time - starts[n]!);
    assert.ok(waits[0]! >= 29 && waits[1]! >= 59 && waits[2]! >= 119, String(waits));
    assert.equal(told.length, 4);
  });

  test('forgets what is not to be tried again, and tells those who wait why', async () => {
    const { add, runs, scheduler } = scene();
    const job = add('x', false, false);
    const answer = job.wait();
    runs.get('x')![0]!.crash(new Error('broken'));
    await assert.rejects(answer, /broken/);
    assert.equal(scheduler.get('x'), undefined);
  });

  test('ends a job that is removed, without calling it a failure', async () => {
    const { add, runs, told, scheduler } = scene();
    const job = add('x');
    const answer = job.wait();
    answer.catch(() => undefined);
    await scheduler.remove('x', gone);
    await assert.rejects(answer, gone);
    assert.ok(runs.get('x')![0]!.stopped);
    assert.equal(job.errorCount, 0);
    assert.deepEqual(told, []);
  });

  test('heeds the configuration as it changes', async () => {
    const { add, running, config } = scene({ max_jobs: '1', interval: '30' });
    for (const name of ['a', 'b', 'c']) add(name);
    assert.equal(running().length, 1);
    config.set('replicator', 'max_jobs', '3');
    assert.equal(running().length, 3);
    config.set('replicator', 'max_jobs', '1');
    await until(() => running().length === 1);
  });

  test('remembers so many events of a job, the newest first', async () => {
    const { add, runs } = scene({ max_history: '3' }, '10');
    const job = add('x');
    for (let n = 0; n < 3; n++) {
      await until(() => runs.get('x')!.length === n + 1);
      runs.get('x')![n]!.crash(new Error(`no ${n}`));
    }
    await until(() => runs.get('x')!.length === 4);
    const history = job.describe('node')['history'] as { type: string; reason?: string }[];
    assert.deepEqual(
      history.map(({ type, reason }) => [type, reason]),
      [
        ['started', undefined],
        ['crashed', 'no 2'],
        ['started', undefined],
      ],
    );
  });

  test('adds up what all runs of a job have done', async () => {
    const { add, runs } = scene({}, '10');
    const job = add('x');
    for (let n = 0; n < 2; n++) {
      await until(() => runs.get('x')!.length === n + 1);
      runs.get('x')![n]!.stats.docsWritten = 5;
      if (n === 0) runs.get('x')![n]!.crash(new Error('no'));
    }
    assert.equal(job.stats.docsWritten, 10);
  });

  test('ends everything when it closes', async () => {
    const { add, runs, scheduler } = scene();
    const job = add('x');
    const answer = job.wait();
    answer.catch(() => undefined);
    await scheduler.close(gone);
    await assert.rejects(answer, gone);
    assert.ok(runs.get('x')![0]!.stopped);
    assert.throws(() => add('y'));
  });
});
