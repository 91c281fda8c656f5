import { endpoints } from './endpoints/all.js';
import { gridRequests } from './grid.js';
import type { CompareRequest } from './request.js';

/** Which parameters of which endpoints were tried, and with which kinds of values. */
export class Coverage {
  readonly #seen = new Set<string>();
  readonly #wanted: readonly string[];

  constructor(only: string) {
    this.#wanted = gridRequests(only).flatMap(({ request }) => cells(request));
  }

  note(request: CompareRequest): void {
    for (const cell of cells(request)) this.#seen.add(cell);
  }

  /** For people. */
  toString(): string {
    const wanted = new Set(this.#wanted);
    const part = (level: number): string => {
      const of = [...wanted].filter((cell) => cell.split('\n').length === level);
      return `${of.filter((cell) => this.#seen.has(cell)).length} of ${of.length}`;
    };
    return `${part(1)} endpoints (${endpoints.length} examples of them), ${part(2)} pairs of endpoint and parameter, ${part(3)} of these with each kind of value`;
  }
}

function cells({ endpoint, parameter, kind }: CompareRequest): string[] {
  if (parameter === undefined) return [endpoint];
  const pair = `${endpoint}\n${parameter}`;
  return [endpoint, pair, ...(kind === undefined ? [] : [`${pair}\n${kind}`])];
}
