import type { RecentTimes } from '../../base/recent-times.js';
import type { Sample } from './figures.js';

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Durations counted in buckets. One observation is a short loop and two additions: it stands on the way of every request. */
export class Histogram {
  /** The last counts what is beyond all buckets. */
  readonly #counts = new Float64Array(secondsBuckets.length + 1);
  #sum = 0;
  count = 0;

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < secondsBuckets.length && seconds > secondsBuckets[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum += seconds;
    this.count++;
  }

  *samples(labels: Readonly<Record<string, string>>): Generator<Sample> {
    let total = 0;
    for (const [i, le] of [...secondsBuckets, '+Inf'].entries()) {
      total += this.#counts[i]!;
      yield { suffix: '_bucket', labels: { ...labels, le: String(le) }, value: total };
    }
    yield { suffix: '_sum', labels, value: this.#sum };
    yield { suffix: '_count', labels, value: total };
  }
}

const quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/** A summary of milliseconds, in seconds, as Prometheus wants them. */
export function summarySamples(times: readonly RecentTimes[]): Sample[] {
  const sorted = sortedOf(times);
  return [
    ...quantiles.map((quantile) => ({
      labels: { quantile: String(quantile) },
      value: at(sorted, quantile) / 1000,
    })),
    { suffix: '_sum', value: times.reduce((all, { sum }) => all + sum, 0) / 1000 },
    { suffix: '_count', value: times.reduce((all, { count }) => all + count, 0) },
  ];
}

/** The members of a histogram in `_stats`. */
export function histogramMembers(times: readonly RecentTimes[]): Record<string, unknown> {
  const sorted = sortedOf(times);
  const n = sorted.length;
  const mean = n === 0 ? 0 : sorted.reduce((sum, each) => sum + each, 0) / n;
  const variance = n === 0 ? 0 : sorted.reduce((sum, each) => sum + (each - mean) ** 2, 0) / n;
  return {
    n,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    arithmetic_mean: mean,
    median: at(sorted, 0.5),
    variance,
    standard_deviation: Math.sqrt(variance),
    // CouchDB writes 999 for 99.9.
    percentile: quantiles.map((share) => [share === 0.999 ? 999 : share * 100, at(sorted, share)]),
  };
}

const sortedOf = (times: readonly RecentTimes[]): number[] =>
  times.flatMap(({ latest }) => latest).sort((a, b) => a - b);

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
