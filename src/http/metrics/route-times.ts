import type { RecentTimes } from '../../base/recent-times.js';
import { Histogram } from './durations.js';
import type { Sample } from './figures.js';

/** A route, as far as its path tells it from others. */
interface Routed {
  path: string;
}

/** Requests that no route was found for, because they were refused before. */
const noRoute: Routed = { path: 'none' };

interface Times {
  histogram: Histogram;
  /** Of requests whose quantiles are shown. */
  recent: RecentTimes | undefined;
}

/** How long requests took, by route and method. */
export class RouteTimes {
  readonly #byRoute = new Map<Routed, Map<string, Times>>();

  constructor(
    /** What the times of requests whose quantiles are shown are added to, by method and path: `GET /{db}`. */
    private readonly recent: ReadonlyMap<string, RecentTimes>,
  ) {}

  observe(route: Routed = noRoute, method: string, milliseconds: number): void {
    let byMethod = this.#byRoute.get(route);
    if (byMethod === undefined) this.#byRoute.set(route, (byMethod = new Map()));
    let times = byMethod.get(method);
    if (times === undefined) {
      times = { histogram: new Histogram(), recent: this.recent.get(`${method} ${route.path}`) };
      byMethod.set(method, times);
    }
    times.histogram.observe(milliseconds / 1000);
    times.recent?.observe(milliseconds);
  }

  /** How often one of these paths was asked for. */
  count(...paths: string[]): number {
    let sum = 0;
    for (const [{ path }, byMethod] of this.#byRoute) {
      if (!paths.includes(path)) continue;
      for (const { histogram } of byMethod.values()) sum += histogram.count;
    }
    return sum;
  }

  *samples(): Generator<Sample> {
    for (const [{ path: route }, byMethod] of this.#byRoute) {
      for (const [method, { histogram }] of byMethod) yield* histogram.samples({ route, method });
    }
  }
}
