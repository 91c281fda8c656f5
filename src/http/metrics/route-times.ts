import { Histogram } from './durations.js';
import type { Sample } from './figures.js';

/** A route, as far as its path tells it from others. */
interface Routed {
  path: string;
}

/** Requests that no route was found for, because they were refused before. */
const noRoute: Routed = { path: 'none' };

/** How long requests took, by route and method. */
export class RouteTimes {
  readonly #byRoute = new Map<Routed, Map<string, Histogram>>();

  observe(route: Routed = noRoute, method: string, seconds: number): void {
    let byMethod = this.#byRoute.get(route);
    if (byMethod === undefined) this.#byRoute.set(route, (byMethod = new Map()));
    let histogram = byMethod.get(method);
    if (histogram === undefined) byMethod.set(method, (histogram = new Histogram()));
    histogram.observe(seconds);
  }

  /** How often one of these paths was asked for. */
  count(...paths: string[]): number {
    let sum = 0;
    for (const [{ path }, byMethod] of this.#byRoute) {
      if (!paths.includes(path)) continue;
      for (const { count } of byMethod.values()) sum += count;
    }
    return sum;
  }

  *samples(): Generator<Sample> {
    for (const [{ path: route }, byMethod] of this.#byRoute) {
      for (const [method, histogram] of byMethod) yield* histogram.samples({ route, method });
    }
  }
}
