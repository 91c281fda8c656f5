import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { Probe, type ProbeFigures } from '../support/probe.js';
import { folderBytes, Generations, headers, idOf } from './compaction-load.js';
import { ServerProcess } from './server-process.js';

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export interface Bars {
  /** The largest the folder may become, and how large it may be in the end, as multiples of a fresh copy. */
  most: number;
  last: number;
  /** Of the rate of GET without compaction; and what one request in a hundred may wait longer than. Unset: not looked at. */
  rate?: number;
  p99Ms?: number;
}

interface Figures {
  probe: ProbeFigures;
  seconds: number;
}

const nothing = (): void => {};

async function load(
  server: ServerProcess,
  generations: Generations,
  count: number,
  probeMs: number,
  onTick: () => void,
  onGeneration: (generation: number) => void,
): Promise<Figures> {
  await generations.write(0);
  const probe = new Probe(`${server.url}/load/${idOf(0)}`, probeMs);
  const ticking = setInterval(onTick, 200);
  const started = performance.now();
  try {
    await probe.take();
    for (let generation = 1; generation <= count; generation++) {
      await generations.write(generation);
      onGeneration(generation);
    }
    return { probe: await probe.take(), seconds: (performance.now() - started) / 1000 };
  } finally {
    clearInterval(ticking);
    probe.stop();
  }
}

/** The bytes of a folder that holds the same, written once. */
async function freshBytes(t: TestContext, source: ServerProcess): Promise<number> {
  const target = await ServerProcess.start(t);
  const from = source.url.replace('//', '//admin:secret@');
  const answer = await fetch(`${target.url}/_replicate`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ source: `${from}/load`, target: 'load', create_target: true }),
  });
  assert.equal(answer.status, 200, await answer.text());
  await target.stop();
  return folderBytes(path.join(target.folder, 'data'));
}

async function rateWithout(t: TestContext, docs: number): Promise<number> {
  const server = await ServerProcess.start(t, { env: { TUFFET__TUFFET__AUTO_COMPACTION: 'false' } });
  await server.createDatabase('load');
  const { probe, seconds } = await load(
    server,
    new Generations(server, 'load', docs),
    5,
    0,
    nothing,
    nothing,
  );
  await server.stop();
  console.log(
    `without compaction: ${Math.round(probe.answers / seconds)} GET a second, p99 ${probe.p99Ms.toFixed(1)} ms`,
  );
  return probe.answers / seconds;
}

/** Waits until what is left to be compacted is compacted. */
async function settled(folder: string, most: number): Promise<number> {
  const until = Date.now() + 60_000;
  while (folderBytes(folder) > most && Date.now() < until) await wait(100);
  return folderBytes(folder);
}

/** Updates without a pause: files keep their size, and readers hardly notice. */
export function testCompaction(docs: number, count: number, bars: Bars): void {
  test(`${count} generations of ${docs} documents with attachments leave the folder small`, async (t) => {
    const before = bars.rate === undefined ? undefined : await rateWithout(t, docs);
    const server = await ServerProcess.start(t);
    await server.createDatabase('load');
    const folder = path.join(server.folder, 'data');
    const generations = new Generations(server, 'load', docs);
    let most = 0;
    const { probe, seconds } = await load(
      server,
      generations,
      count,
      bars.rate === undefined ? 10 : 0,
      () => {
        most = Math.max(most, folderBytes(folder));
      },
      (generation) => {
        if (generation % 5 === 0)
          console.log(`generation ${generation}: ${mb(folderBytes(folder))}, at most ${mb(most)}`);
      },
    );
    await generations.check();
    const fresh = await freshBytes(t, server);
    const last = await settled(folder, bars.last * fresh);
    const rate = probe.answers / seconds;
    console.log(
      `${Math.round((docs * count) / seconds)} updates a second; folder at most ${mb(most)} (${(most / fresh).toFixed(2)}), ` +
        `in the end ${mb(last)} (${(last / fresh).toFixed(2)}), fresh ${mb(fresh)}; ` +
        `${Math.round(rate)} GET a second, p99 ${probe.p99Ms.toFixed(1)} ms, longest ${probe.longestMs.toFixed(0)} ms`,
    );
    assert.equal(probe.failures, 0);
    assert.ok(most < bars.most * fresh, `the folder took ${mb(most)}, ${mb(fresh)} when fresh`);
    assert.ok(last < bars.last * fresh, `the folder takes ${mb(last)}, ${mb(fresh)} when fresh`);
    if (bars.rate !== undefined)
      assert.ok(rate >= bars.rate * before!, `${rate} GET a second, ${before} before`);
    if (bars.p99Ms !== undefined) assert.ok(probe.p99Ms < bars.p99Ms);
  });
}
