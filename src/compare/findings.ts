import type { Difference } from './answer-differences.js';
import type { CompareRequest } from './request.js';

/** A difference that was found, with the requests that show it; the last of them gets the answers that differ. */
export interface Finding {
  requests: readonly CompareRequest[];
  differences: readonly Difference[];
  times: number;
}

/** Findings of one kind count as one. */
export class Findings {
  readonly #byKind = new Map<string, Finding>();

  /** True where it is the first of its kind. */
  add(requests: readonly CompareRequest[], differences: readonly Difference[]): boolean {
    const kind = kindOf(requests.at(-1)!, differences);
    const known = this.#byKind.get(kind);
    if (known !== undefined) known.times++;
    else this.#byKind.set(kind, { requests, differences, times: 1 });
    return known === undefined;
  }

  get kinds(): number {
    return this.#byKind.size;
  }
}

/** The same member of the same endpoint's answers with the same parameter is the same finding. */
export function kindOf(request: CompareRequest, differences: readonly Difference[]): string {
  const { member, reference, subject } = differences[0]!;
  const values = member === 'status' ? `${String(reference)} ${String(subject)}` : '';
  return [request.endpoint, request.parameter ?? '', member, values].join('\n');
}
