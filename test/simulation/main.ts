import { parseArgs } from 'node:util';
import { Simulation } from './simulation.js';

/** `npm run simulate -- --minutes 10 [--seed N]`: as many seeds as fit; `--seed` alone runs one and prints what happened. */
const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
const isOne = values.minutes === undefined && values.seed !== undefined;
const until = performance.now() + Number(values.minutes ?? 1) * 60_000;
const total = { seeds: 0, events: 0, steps: 0, crashes: 0, forgotten: 0 };
let failed = 0;

for (let seed = first; seed === first || (!isOne && performance.now() < until); seed++) {
  try {
    const figures = await new Simulation(seed, isOne ? (event) => console.log(event) : undefined).run();
    if (isOne) console.log(`seed ${seed}: trace ${figures.trace}`);
    for (const name of ['events', 'steps', 'crashes', 'forgotten'] as const) total[name] += figures[name];
  } catch (error) {
    failed++;
    console.error(`seed ${seed} failed: npm run simulate -- --seed ${seed}`);
    console.error(error);
  }
  total.seeds++;
}
const { seeds, events, steps, crashes, forgotten } = total;
console.log(
  `${seeds} seeds from ${first}, ${failed} failed; ${steps} steps, ${events} events, ${crashes} crashes, ${forgotten} batches forgotten`,
);
process.exitCode = failed > 0 ? 1 : 0;
