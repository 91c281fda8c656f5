/**
 * Kills under a mixed load: only a kill ends the process, nothing that was acknowledged is lost, and nothing that was
 * refused is stored.
 */
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { kill, roundsBetweenChecks, serve } from './fault-scene.js';
import { MixedLoad } from './mixed-load.js';

const kills = 100;

test(`${kills} kills lose nothing (seed ${seed})`, async (t) => {
  const random = new Random(seed);
  const server = await serve(t);
  const load = new MixedLoad(server, random, 3_000);
  await load.setUp();
  for (let i = 1; i <= kills; i++) {
    load.start();
    await load.answers(1 + random.below(150));
    await kill(server, load);
    if (i % roundsBetweenChecks === 0) await load.check();
  }
  t.diagnostic(`${kills} kills: ${load.figures}`);
});
