/**
 * Errors of the disk under a mixed load: only a kill ends the process, nothing that was acknowledged is lost, and nothing that was
 * refused is stored.
 */
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { Faults, withoutFaults, type FaultKind } from '../support/faults.js';
import { kill, requireRunning, roundsBetweenChecks, serve } from './fault-scene.js';
import { MixedLoad } from './mixed-load.js';

const errors = 100;
const roundsMin = 40;

test(`${errors} errors of the disk cost what they met (seed ${seed})`, { skip: withoutFaults }, async (t) => {
  const random = new Random(seed);
  const faults = new Faults(t);
  const server = await serve(t, { env: faults.env });
  const load = new MixedLoad(server, random, 3_000);
  await load.setUp();
  const places: readonly [string, readonly FaultKind[]][] = [
    ['documents', ['short', 'meta', 'sync']],
    ['catalogue', ['short', 'meta', 'sync']],
    ['indexes', ['short', 'meta', 'sync']],
    ['attachments', ['write', 'sync']],
  ];
  let rounds = 0;
  for (; faults.count < errors || rounds < roundsMin; rounds++) {
    const [place, kinds] = random.pick(places);
    load.start();
    faults.begin([random.pick(kinds)], place, 1 + random.below(10));
    await load.answers(20 + random.below(80));
    // With the last round of each ten the server is killed in the midst of its troubles.
    if (rounds % 10 === 9) await kill(server, load);
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
