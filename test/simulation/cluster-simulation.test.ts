import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterSimulation } from './cluster-simulation.js';

/** Always the same ones, so that a failure is of the change at hand; TUFFET_CLUSTER_SEEDS=500 tries more. */
const seed = Number(process.env['TUFFET_SEED'] ?? 1);
const seeds = Number(process.env['TUFFET_CLUSTER_SEEDS'] ?? 6);

test(`${seeds} simulated clusters lose nothing, from seed ${seed} on`, async (t) => {
  const total = { told: 0, unknown: 0, crashes: 0, messages: 0 };
  for (let at = seed; at < seed + seeds; at++) {
    const figures = await new ClusterSimulation(at).run().catch((error: unknown) => {
      throw new Error(`seed ${at}: TUFFET_SEED=${at} TUFFET_CLUSTER_SEEDS=1`, { cause: error });
    });
    for (const name of ['told', 'unknown', 'crashes', 'messages'] as const) total[name] += figures[name];
  }
  t.diagnostic(JSON.stringify(total));
  assert.ok(total.told > 10 * seeds && total.crashes > 0 && total.unknown > 0);
});

test('a seed of a cluster is replayed exactly', async () => {
  const [first, second] = [await new ClusterSimulation(seed).run(), await new ClusterSimulation(seed).run()];
  assert.deepEqual(second, first);
  assert.notEqual((await new ClusterSimulation(seed + 1).run()).trace, first.trace);
});
