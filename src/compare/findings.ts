import type { Difference } from './answer-differences.js';
import type { CompareRequest } from './request.js';

/** A difference that was found, with the requests that show it; the last of them gets the answers that differ. */
export interface Finding {
  requests: readonly CompareRequest[];
  differences: readonly Difference[];
}

/** The kinds of findings so far: those of one kind count as one. */
export class Findings {
  readonly #kinds = new Set<string>();

  has(kind: string): boolean {
    return this.#kinds.has(kind);
  }

  /** True where it is the first of its kind. */
  add(kind: string): boolean {
    const isNew = !this.#kinds.has(kind);
    this.#kinds.add(kind);
    return isNew;
  }

  get kinds(): number {
    return this.#kinds.size;
  }
}

/** The same member of the same endpoint's answers with the same parameter is the same finding. */
export function kindOf(request: CompareRequest, differences: readonly Difference[]): string {
  const { member, reference, subject } = differences[0]!;
  const values = member === 'status' ? `${String(reference)} ${String(subject)}` : '';
  return [request.endpoint, request.parameter ?? '', member, values].join('\n');
}
