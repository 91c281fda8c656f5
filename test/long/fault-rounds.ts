/**
 * A server under a mixed load whose process is killed, whose disk fails or becomes full. Only a kill ends the process, nothing
 * that was acknowledged is lost, and nothing that was refused is stored.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { Faults, SmallDisk, withoutDisk, withoutFaults, type FaultKind } from '../support/faults.js';
import { kill, requireRunning, roundsBetweenChecks, serve } from './fault-scene.js';
import { MixedLoad } from './mixed-load.js';

const docBytesMax = 3_000;
const roundsBetweenKills = 10;

export function testKills(kills: number): void {
  test(`${kills} kills lose nothing (seed ${seed})`, async (t) => {
    const random = new Random(seed);
    const server = await serve(t);
    const load = new MixedLoad(server, random, docBytesMax);
    await load.setUp();
    for (let i = 1; i <= kills; i++) {
      load.start();
      await load.answers(1 + random.below(150));
      await kill(server, load);
      if (i % roundsBetweenChecks === 0) await load.check();
    }
    t.diagnostic(`${kills} kills: ${load.figures}`);
  });
}

const places: readonly [string, readonly FaultKind[]][] = [
  ['documents', ['short', 'meta', 'sync']],
  ['catalogue', ['short', 'meta', 'sync']],
  ['indexes', ['short', 'meta', 'sync']],
  ['attachments', ['write', 'sync']],
];

export function testErrors(errors: number, roundsMin: number): void {
  const name = `${errors} errors of the disk cost what they met (seed ${seed})`;
  test(name, { skip: withoutFaults }, async (t) => {
    const random = new Random(seed);
    const faults = new Faults(t);
    const server = await serve(t, { env: faults.env });
    const load = new MixedLoad(server, random, docBytesMax);
    await load.setUp();
    let rounds = 0;
    for (; faults.count < errors || rounds < roundsMin; rounds++) {
      const [place, kinds] = random.pick(places);
      load.start();
      faults.begin([random.pick(kinds)], place, 1 + random.below(10));
      await load.answers(20 + random.below(80));
      // At times the server is killed, and started again, in the midst of its troubles.
      if (rounds % roundsBetweenKills === roundsBetweenKills - 1) await kill(server, load);
      faults.end();
      await load.stop();
      requireRunning(server);
      if (rounds % roundsBetweenChecks === 0) await load.check();
    }
    await load.check();
    await server.stop('SIGKILL');
    await server.start();
    await load.check();
    t.diagnostic(`${faults.count} errors in ${rounds} rounds: ${load.figures}`);
  });
}

export function testFullDisk(fillings: number, megabytes: number): void {
  const name = `a disk that is full ${fillings} times (seed ${seed})`;
  test(name, { skip: withoutDisk }, async (t) => {
    const random = new Random(seed);
    const disk = new SmallDisk(t, megabytes);
    const server = await serve(t, { data: `${disk.folder}/data` });
    const load = new MixedLoad(server, random, docBytesMax);
    await load.setUp();
    for (let i = 1; i <= fillings; i++) {
      load.start();
      await load.answers(random.below(50));
      disk.fill();
      await load.answers(50 + random.below(100));
      if (i % 4 === 0) await kill(server, load);
      await load.stop();
      requireRunning(server);
      disk.free();
      await load.check();
    }
    await server.stop('SIGKILL');
    await server.start();
    await load.check();
    assert.ok((load.statuses.get(507) ?? 0) > fillings, 'the disk was full');
    t.diagnostic(`${fillings} times full: ${load.figures}`);
  });
}
