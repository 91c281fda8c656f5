const { TUFFET_SEED, TUFFET_RUN_SEED } = process.env;

/** The seed of all random tests: TUFFET_SEED replays a failure, which names it. `npm test` gives each run one of its own. */
export const seed = Number(TUFFET_SEED ?? TUFFET_RUN_SEED ?? Math.floor(Math.random() * 2 ** 32));

/** Random numbers that a seed brings back (Mulberry32). */
export class Random {
  #state: number;

  constructor(start: number) {
    this.#state = start;
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += this.below(16).toString(16);
    return text;
  }

  /** Any bytes. */
  bytes(length: number): string {
    let text = '';
    for (let i = 0; i < length; i++) text += String.fromCharCode(this.below(256));
    return text;
  }
}
