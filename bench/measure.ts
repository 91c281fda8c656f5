import path from 'node:path';
import fs from 'node:fs';
import type { BenchContext } from './context.js';
import type { Figure, Sample, Samples } from './figures/figure.js';
import { monotonicMicroseconds, type Span } from './profile.js';
import { processorSeconds } from './processor-time.js';
import type { BenchServer } from './processes.js';

export interface Result {
  name: string;
  title: string;
  unit: string;
  floorTitle: string;
  /** Units a second. */
  rate: number;
  floor: number;
  ratio: number;
  /** The same of units per second of processor time: what other programs on the machine hardly touch. */
  processorRatio: number;
  bar: number;
  enough: number;
  slowerMsMax: number | undefined;
  /** The floor was too low for the ratio to mean anything. */
  void: boolean;
  samples: { server: Measured[]; floor: Measured[] };
  /** When those of the server were taken. */
  spans: Span[];
}

interface Measured {
  rate: number;
  unitsPerProcessorSecond: number;
}

const warmups = 3;

/** A void attempt is repeated, but not for longer than this. */
const attemptsMax = 3;
const attemptsMsMax = 25_000;

/** Takes floor and server in turn, so that a busy moment of the machine hits both, and compares the medians. */
export async function measure(figure: Figure, context: BenchContext): Promise<Result> {
  return await measureSamples(figure, context, await figure.prepare(context));
}

/** The same with another server in place of the floor. */
export async function compare(
  figure: Figure,
  context: BenchContext,
  reference: BenchServer,
): Promise<Result> {
  const folder = path.join(context.folder, 'reference');
  fs.mkdirSync(folder, { recursive: true });
  const own = await figure.prepare(context);
  const other = await figure.prepare({ ...context, server: reference, folder });
  const samples: Samples = {
    floor: other.server,
    server: own.server,
    floorPid: reference.pid,
    close: async () => {
      await own.close();
      await other.close();
    },
  };
  return await measureSamples({ ...figure, floorLeast: 0 }, context, samples);
}

async function measureSamples(figure: Figure, context: BenchContext, samples: Samples): Promise<Result> {
  try {
    // The first of each warm up the compiler and the caches: a server that runs for hours is asked about.
    for (let i = 0; i < warmups; i++) {
      await samples.floor();
      await samples.server();
    }
    const until = Date.now() + attemptsMsMax;
    for (let attempt = 1; ; attempt++) {
      const result = await attemptOf(figure, samples, context);
      if (!result.void || attempt === attemptsMax || Date.now() > until) return result;
      console.error(
        `${figure.name}: the floor was only ${Math.round(result.floor)} ${figure.unit}; once more.`,
      );
    }
  } finally {
    await samples.close();
  }
}

async function attemptOf(
  figure: Figure,
  samples: Samples,
  { options, server }: BenchContext,
): Promise<Result> {
  const taken: Result['samples'] = { server: [], floor: [] };
  const spans: Span[] = [];
  for (let round = 0; round < options.rounds; round++) {
    taken.floor.push(await measured(samples.floor, samples.floorPid));
    const from = monotonicMicroseconds();
    taken.server.push(await measured(samples.server, samples.serverPid ?? server.pid));
    spans.push({ from, to: monotonicMicroseconds() });
  }
  const { name, title, unit, floorTitle, bar, floorLeast, enough = Infinity, slowerMsMax } = figure;
  const medianOf = (of: 'server' | 'floor', what: keyof Measured): number =>
    median(taken[of].map((each) => each[what]));
  const rate = medianOf('server', 'rate');
  const floor = medianOf('floor', 'rate');
  return {
    name,
    title,
    unit,
    floorTitle,
    rate,
    floor,
    ratio: rate / floor,
    processorRatio:
      medianOf('server', 'unitsPerProcessorSecond') / medianOf('floor', 'unitsPerProcessorSecond'),
    bar,
    enough,
    slowerMsMax,
    void: floor < floorLeast,
    samples: taken,
    spans,
  };
}

async function measured(sample: () => Promise<Sample>, pid: number): Promise<Measured> {
  const before = processorSeconds(pid);
  const { units, seconds } = await sample();
  return { rate: units / seconds, unitsPerProcessorSecond: units / (processorSeconds(pid) - before) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
