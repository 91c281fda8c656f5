/**
 * A disk that becomes full under a mixed load: only a kill ends the process, nothing that was acknowledged is lost, and nothing that was
 * refused is stored.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { SmallDisk, withoutDisk } from '../support/faults.js';
import { kill, requireRunning, serve } from './fault-scene.js';
import { MixedLoad } from './mixed-load.js';

const fillings = 20;

test(`a disk that is full ${fillings} times (seed ${seed})`, { skip: withoutDisk }, async (t) => {
  const random = new Random(seed);
  const disk = new SmallDisk(t, 256);
  const server = await serve(t, { data: `${disk.folder}/data` });
  const load = new MixedLoad(server, random, 20_000);
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
