import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kills } from '../crash/kills.js';
import { Simulation } from './simulation.js';

/** Always the same ones, so that a failure is of the change at hand; `npm run simulate` tries others. */
const seed = Number(process.env['TUFFET_SEED'] ?? 1);
const seeds = kills(50);

test(`${seeds} simulated machines lose nothing, from seed ${seed} on`, async () => {
  for (const at of Array.from({ length: seeds }, (_, i) => seed + i)) {
    await new Simulation(at).run().catch((error: unknown) => {
      throw new Error(`seed ${at}: npm run simulate -- --seed ${at}`, { cause: error });
    });
  }
});

test('a seed is replayed exactly', async () => {
  const events: string[][] = [[], []];
  const [first, second] = [
    await new Simulation(seed, (event) => events[0]!.push(event)).run(),
    await new Simulation(seed, (event) => events[1]!.push(event)).run(),
  ];
  assert.deepEqual(events[1], events[0]);
  assert.deepEqual(second, first);
  const other = await new Simulation(seed + 1).run();
  assert.notEqual(other.trace, first.trace);
});
