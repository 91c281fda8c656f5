import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Probe } from '../support/probe.js';
import { pemFile } from '../support/tls.js';
import { attacks } from './hostile-requests.js';
import { authorization, ServerProcess, withoutProc } from './server-process.js';

/** How long a small GET of another client may wait; a busy machine needs more. */
const waitMsMax = Number(process.env['TUFFET_HOSTILE_WAIT_MS'] ?? 250);
const memoryMax_mb = 1_000;
/** After an attack: what it has left behind shows in the waits, too. */
const afterMs = 200;

const turnFile = path.join(os.tmpdir(), `tuffet-turns-${process.pid}`);
const turnMeter = {
  NODE_OPTIONS: `--import ${pathToFileURL(path.resolve(import.meta.dirname, '../support/turn-meter.js')).href}`,
  TUFFET_TURN_METER: turnFile,
};

/** The processor time of the server's longest turn since it was last asked for. */
async function longestTurnMs(server: ServerProcess): Promise<number> {
  fs.rmSync(turnFile, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  for (let text = ''; ; await sleep(10)) {
    if (fs.existsSync(turnFile)) text = fs.readFileSync(turnFile, 'utf8');
    if (text !== '') return Math.round(Number(text));
    assert.ok(server.isRunning, server.lastWords);
  }
}

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
    const server = await ServerProcess.start(t, { args, env: turnMeter });
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
      await longestTurnMs(server);
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
      const turnMs = await longestTurnMs(server);
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      const line = `${name}: ${seconds} s, longest wait ${Math.round(longestMs)} ms (median ${medianMs.toFixed(1)} ms), longest turn ${turnMs} ms of processor time, RssAnon ${Math.round(memory_mb)} MB`;
      console.log(line);
      assert.ok(server.isRunning, `${line}\n${server.lastWords}`);
      assert.equal(failures, 0, line);
      if (longestMs > waitMsMax || memory_mb > memoryMax_mb) exceeded.push(line);
    }
    assert.deepEqual(exceeded, [], `beyond ${waitMsMax} ms or ${memoryMax_mb} MB`);
  },
);
