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

/** The durations that a summary is made of: the latest so many. */
const timesMax = 1_024;
const quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/** The latest durations, in milliseconds, summed up as CouchDB does. */
export class Summary {
  readonly #times: number[] = [];
  #count = 0;
  #sum = 0;

  observe(milliseconds: number): void {
    this.#times[this.#count++ % timesMax] = milliseconds;
    this.#sum += milliseconds;
  }

  /** In seconds, as Prometheus wants them. */
  *samples(): Generator<Sample> {
    const sorted = this.#sorted();
    for (const quantile of quantiles)
      yield { labels: { quantile: String(quantile) }, value: at(sorted, quantile) / 1000 };
    yield { suffix: '_sum', value: this.#sum / 1000 };
    yield { suffix: '_count', value: this.#count };
  }

  /** The members of a histogram in `_stats`. */
  stats(): Record<string, unknown> {
    const sorted = this.#sorted();
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

  #sorted(): number[] {
    return [...this.#times].sort((a, b) => a - b);
  }
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
