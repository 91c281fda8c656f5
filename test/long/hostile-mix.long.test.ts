import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Probe } from '../support/probe.js';
import { pemFile } from '../support/tls.js';
import { attacks } from './hostile-requests.js';
import { authorization, ServerProcess, withoutProc } from './server-process.js';

/** How long a small GET of another client may wait; a busy machine needs more. */
const waitMsMax = Number(process.env['TUFFET_HOSTILE_WAIT_MS'] ?? 250);
const memoryMax_mb = 1_000;
/** After an attack: what it has left behind shows in the waits, too. */
const afterMs = 200;

test(
  'whatever one client does, others are served and memory stays bounded',
  { skip: withoutProc },
  async (t) => {
    const args = [
      '--tls-port',
      '0',
      '--tls-cert',
      pemFile('server-cert'),
      '--tls-key',
      pemFile('server-key'),
    ];
    const server = await ServerProcess.start(t, { args });
    await server.createDatabase('victim');
    const body = '{"small":true}';
    await fetch(`${server.url}/victim/a`, { method: 'PUT', headers: { authorization }, body });
    const probe = new Probe(`${server.url}/victim/a`);
    t.after(() => probe.stop());
    const exceeded: string[] = [];
    for (const { name, prepare, run } of attacks) {
      await prepare?.(server);
      await sleep(afterMs);
      await probe.take();
      let memory_mb = 0;
      const watch = setInterval(() => (memory_mb = Math.max(memory_mb, server.anonymous_mb())), 20);
      const started = performance.now();
      try {
        await run(server);
        await sleep(afterMs);
      } finally {
        clearInterval(watch);
      }
      const { longestMs, medianMs, failures } = await probe.take();
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      const line = `${name}: ${seconds} s, longest wait ${Math.round(longestMs)} ms (median ${medianMs.toFixed(1)} ms), RssAnon ${Math.round(memory_mb)} MB`;
      console.log(line);
      assert.ok(server.isRunning, `${line}\n${server.lastWords}`);
      assert.equal(failures, 0, line);
      if (longestMs > waitMsMax || memory_mb > memoryMax_mb) exceeded.push(line);
    }
    assert.deepEqual(exceeded, [], `beyond ${waitMsMax} ms or ${memoryMax_mb} MB`);
  },
);
