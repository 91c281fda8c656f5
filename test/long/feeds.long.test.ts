import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import { authorization, ServerProcess, withoutProc } from './server-process.js';

const feeds = 5_000;
const growthMax_mb = 150;
const reachedWithinMs = 250;

interface Report {
  ready?: true;
  waiting?: string;
  heardMs?: number;
  failed?: string;
  closed?: true;
}

test(
  `${feeds} idle feeds take little memory, and one write reaches all of them at once`,
  { skip: withoutProc },
  async (t) => {
    const server = await ServerProcess.start(t);
    await server.createDatabase('idle');
    const put = (id: string): Promise<Response> =>
      fetch(`${server.url}/idle/${id}`, { method: 'PUT', headers: { authorization }, body: '{}' });
    for (let i = 0; i < 20; i++) await put(`warm${i}`);
    const { hostname, port } = new URL(server.url);
    const before = server.anonymous_mb();
    const clients = fork(path.join(import.meta.dirname, 'idle-feeds.js'), [
      hostname,
      port,
      '/idle/_changes?feed=continuous&since=now&heartbeat=30000',
      String(feeds),
    ]);
    t.after(() => clients.kill());
    const hear = async (): Promise<Report> => {
      const [report] = (await once(clients, 'message')) as [Report];
      assert.equal(report.failed, undefined);
      return report;
    };
    assert.equal((await hear()).ready, true);
    const growth_mb = server.anonymous_mb() - before;
    const times: number[] = [];
    for (let i = 0; i < 10; i++) {
      const id = `told${i}`;
      clients.send({ id });
      assert.equal((await hear()).waiting, id);
      const heard = hear();
      await put(id);
      times.push((await heard).heardMs!);
    }
    const after_mb = server.anonymous_mb() - before;
    console.log(
      `${feeds} idle feeds: ${Math.round(growth_mb)} MB more, ${Math.round(after_mb)} MB after ten changes; all heard of a write within ${times.join(', ')} ms`,
    );
    assert.ok(growth_mb < growthMax_mb, `${growth_mb} MB`);
    // Other programs may have the processor for a moment: the median is the server's own.
    const median = [...times].sort((a, b) => a - b)[5]!;
    assert.ok(median < reachedWithinMs, `${median} ms`);
  },
);
