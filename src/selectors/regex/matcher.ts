/**
 * Runs a program over a text with all its possible ways side by side, so that no text can make it take long: for each
 * character every step is looked at once at most. Only looking around starts over at each place, and for that the number
 * of steps has a limit; a text that needs more does not match, as with CouchDB's.
 */
import { wordLetters, CharSet } from './char-set.js';
import type { Place } from './pattern.js';
import type { LookWay, Step } from './program.js';

/** About ten milliseconds. */
const workMax = 1_000_000;

export class Matcher {
  readonly #machine: Machine;
  readonly #budget = { left: 0 };

  constructor(steps: readonly Step[]) {
    this.#machine = new Machine(steps, this.#budget);
  }

  /** Whether the program matches somewhere in the text. */
  matches(text: string): boolean {
    this.#budget.left = workMax;
    return this.#machine.run(text, 0, false);
  }
}

interface Look {
  readonly negated: boolean;
  readonly ways: readonly { readonly back: number; readonly machine: Machine }[];
}

class Machine {
  readonly #looks: readonly (Look | undefined)[];
  /** Steps that wait for the next character; those of this one, and those of the one behind it. */
  #waiting: Int32Array;
  #next: Int32Array;
  #count = 0;
  /** The last place at which a step was reached. */
  readonly #reached: Int32Array;
  readonly #open: Int32Array;
  #size = 0;

  constructor(
    private readonly steps: readonly Step[],
    private readonly budget: { left: number },
  ) {
    this.#waiting = new Int32Array(steps.length);
    this.#next = new Int32Array(steps.length);
    this.#reached = new Int32Array(steps.length);
    this.#open = new Int32Array(steps.length);
    const machineOf = ({ back, steps: way }: LookWay): { back: number; machine: Machine } => ({
      back,
      machine: new Machine(way, budget),
    });
    this.#looks = steps.map((step) =>
      step.kind === 'look' ? { negated: step.negated, ways: step.ways.map(machineOf) } : undefined,
    );
  }

  /** `here`: only a match that begins at the place counts. */
  run(text: string, from: number, here: boolean): boolean {
    this.#reached.fill(-1);
    this.budget.left -= this.steps.length >> 3;
    this.#count = 0;
    let at = from;
    if (this.#follow(0, text, at)) return true;
    for (;;) {
      const count = this.#swap();
      if (at >= text.length || (here && count === 0) || this.budget.left <= 0) return false;
      const code = text.codePointAt(at)!;
      at += code > 0xffff ? 2 : 1;
      this.budget.left -= count + 1;
      for (let index = 0; index < count; index++) {
        const number = this.#waiting[index]!;
        const step = this.steps[number]!;
        if (step.kind === 'take' && step.set.has(code) && this.#follow(number + 1, text, at)) return true;
      }
      if (!here && this.#follow(0, text, at)) return true;
    }
  }

  /** Makes what waits for the next character what waits for this one. */
  #swap(): number {
    const count = this.#count;
    [this.#waiting, this.#next] = [this.#next, this.#waiting];
    this.#count = 0;
    return count;
  }

  /** All that can be reached from a step without a character; tells whether the end of the program is among it. */
  #follow(first: number, text: string, at: number): boolean {
    this.#size = 0;
    this.#reach(first, at);
    while (this.#size > 0) {
      const number = this.#open[--this.#size]!;
      const step = this.steps[number]!;
      if (step.kind === 'match') return true;
      if (step.kind === 'take') this.#next[this.#count++] = number;
      else if (step.kind === 'fork') {
        this.#reach(step.or, at);
        this.#reach(step.to, at);
      } else if (step.kind === 'place' ? isAt(step.place, text, at) : this.#looksFine(number, text, at))
        this.#reach(number + 1, at);
    }
    return false;
  }

  #reach(number: number, at: number): void {
    if (this.#reached[number] === at) return;
    this.#reached[number] = at;
    this.#open[this.#size++] = number;
    this.budget.left--;
  }

  #looksFine(number: number, text: string, at: number): boolean {
    const { negated, ways } = this.#looks[number]!;
    const found = ways.some(({ back, machine }) => {
      const from = goBack(text, at, back);
      return from !== undefined && machine.run(text, from, true);
    });
    return found !== negated;
  }
}

function goBack(text: string, at: number, characters: number): number | undefined {
  let from = at;
  for (let count = 0; count < characters; count++) {
    if (from === 0) return undefined;
    from -= from > 1 && text.codePointAt(from - 2)! > 0xffff ? 2 : 1;
  }
  return from;
}

const word = new CharSet(wordLetters);
const isWord = (text: string, at: number): boolean =>
  at >= 0 && at < text.length && word.has(text.charCodeAt(at));
const lineFeed = '\n';

function isAt(place: Place, text: string, at: number): boolean {
  switch (place) {
    case 'text start':
      return at === 0;
    case 'line start':
      return at === 0 || text[at - 1] === lineFeed;
    case 'line end':
      return at === text.length || text[at] === lineFeed;
    case 'text end':
      return at === text.length;
    case 'end':
      return at === text.length || (at === text.length - 1 && text[at] === lineFeed);
    case 'word edge':
      return isWord(text, at - 1) !== isWord(text, at);
    case 'no word edge':
      return isWord(text, at - 1) === isWord(text, at);
  }
}
