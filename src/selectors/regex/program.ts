/**
 * A pattern as a program for `Matcher`: steps that take a character, choose between two ways, or look at the place. What
 * is counted in the pattern is written out, so a program is as long as the pattern is in that sense.
 */
import type { CharSet } from './char-set.js';
import { PatternError } from './class-reader.js';
import { fixedLength, type Pattern, type Place } from './pattern.js';

const stepsMax = 5_000;

export type Step =
  | { readonly kind: 'take'; readonly set: CharSet }
  /** Both ways are open. */
  | { readonly kind: 'fork'; to: number; or: number }
  | { readonly kind: 'place'; readonly place: Place }
  | { readonly kind: 'look'; readonly negated: boolean; readonly ways: readonly LookWay[] }
  | { readonly kind: 'match' };

/** A pattern that must match from some characters back to here, or from here on. */
export interface LookWay {
  readonly back: number;
  readonly steps: readonly Step[];
}

export function compilePattern(pattern: Pattern): Step[] {
  return new Compiler().program(pattern);
}

class Compiler {
  #size = 0;

  program(pattern: Pattern): Step[] {
    const steps: Step[] = [];
    this.#emit(steps, pattern);
    steps.push({ kind: 'match' });
    return steps;
  }

  #push(steps: Step[], step: Step): void {
    if (++this.#size > stepsMax) throw new PatternError('the pattern is too large');
    steps.push(step);
  }

  #emit(steps: Step[], pattern: Pattern): void {
    switch (pattern.kind) {
      case 'set':
        return this.#push(steps, { kind: 'take', set: pattern.set });
      case 'place':
        return this.#push(steps, { kind: 'place', place: pattern.place });
      case 'sequence':
        for (const item of pattern.items) this.#emit(steps, item);
        return;
      case 'choice':
        return this.#choice(steps, pattern.items);
      case 'repeat':
        return this.#repeat(steps, pattern.item, pattern.min, pattern.max);
      case 'look':
        return this.#look(steps, pattern);
    }
  }

  #fork(steps: Step[]): { to: number; or: number } {
    const fork = { kind: 'fork', to: steps.length + 1, or: steps.length + 1 } as const;
    this.#push(steps, fork);
    return fork;
  }

  #choice(steps: Step[], items: readonly Pattern[]): void {
    const ends: { to: number; or: number }[] = [];
    for (const [index, item] of items.entries()) {
      const last = index === items.length - 1;
      const fork = last ? undefined : this.#fork(steps);
      this.#emit(steps, item);
      if (!last) ends.push(this.#fork(steps));
      if (fork !== undefined) fork.or = steps.length;
    }
    for (const end of ends) end.to = end.or = steps.length;
  }

  #repeat(steps: Step[], item: Pattern, min: number, max: number): void {
    for (let count = 0; count < min; count++) this.#emit(steps, item);
    if (max === Infinity) {
      const fork = this.#fork(steps);
      this.#emit(steps, item);
      const back = this.#fork(steps);
      back.to = back.or = steps.indexOf(fork as Step);
      fork.or = steps.length;
      return;
    }
    const forks: { or: number }[] = [];
    for (let count = min; count < max; count++) {
      forks.push(this.#fork(steps));
      this.#emit(steps, item);
    }
    for (const fork of forks) fork.or = steps.length;
  }

  #look(steps: Step[], { behind, negated, item }: Extract<Pattern, { kind: 'look' }>): void {
    const items = behind && item.kind === 'choice' ? item.items : [item];
    const ways = items.map((each): LookWay => {
      const back = behind ? fixedLength(each) : 0;
      if (back === undefined) throw new PatternError('lookbehind assertion is not fixed length');
      return { back, steps: this.program(each) };
    });
    this.#push(steps, { kind: 'look', negated, ways });
  }
}
