import { Simulation } from './simulation.js';

/** Prints the first seed from 1 on that fails, and why, within as many seeds as the argument says. */
const seeds = Number(process.argv[2]);
for (let seed = 1; seed <= seeds; seed++) {
  const failure = await new Simulation(seed).run().catch((error: unknown) => error);
  if (failure instanceof Error) {
    console.log(`seed ${seed}: ${failure.stack}`);
    process.exit(1);
  }
}
