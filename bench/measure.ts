import type { BenchContext } from './context.js';
import type { Figure, Samples } from './figures/figure.js';

export interface Result {
  name: string;
  title: string;
  unit: string;
  floorTitle: string;
  rate: number;
  floor: number;
  ratio: number;
  bar: number;
  /** The floor was too low for the ratio to mean anything. */
  void: boolean;
  samples: { rate: number[]; floor: number[] };
}

const attemptsMax = 3;

/** Takes floor and server in turn, so that a busy moment of the machine hits both, and compares the medians. */
export async function measure(figure: Figure, context: BenchContext): Promise<Result> {
  const samples = await figure.prepare(context);
  try {
    // The first of each warms up the compiler and the caches.
    await samples.floor();
    await samples.server();
    for (let attempt = 1; ; attempt++) {
      const result = await attemptOf(figure, samples, context.options.rounds);
      if (!result.void || attempt === attemptsMax) return result;
      console.error(
        `${figure.name}: the floor was only ${Math.round(result.floor)} ${figure.unit}; once more.`,
      );
    }
  } finally {
    await samples.close();
  }
}

async function attemptOf(figure: Figure, samples: Samples, rounds: number): Promise<Result> {
  const taken: Result['samples'] = { rate: [], floor: [] };
  for (let round = 0; round < rounds; round++) {
    taken.floor.push(await samples.floor());
    taken.rate.push(await samples.server());
  }
  const rate = median(taken.rate);
  const floor = median(taken.floor);
  const { name, title, unit, floorTitle, bar, floorLeast } = figure;
  return {
    name,
    title,
    unit,
    floorTitle,
    rate,
    floor,
    ratio: rate / floor,
    bar,
    void: floor < floorLeast,
    samples: taken,
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
