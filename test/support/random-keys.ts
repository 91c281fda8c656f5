import { RandomJson } from './random-json.js';

/** Random JSON values for tests of orders: every type, few different strings, so that many of them nearly agree. */
export class RandomKeys {
  readonly #random: RandomJson;

  constructor(readonly seed: number) {
    this.#random = new RandomJson(seed);
  }

  below(bound: number): number {
    return this.#random.below(bound);
  }

  pick<Item>(items: readonly Item[]): Item {
    return this.#random.pick(items);
  }

  key(depth = 3): unknown {
    const kind = this.below(depth > 0 ? 12 : 9);
    if (kind < 3) return this.below(2) === 0 ? this.double() : this.pick(numbers);
    if (kind < 6) return this.ascii();
    if (kind === 6) return this.wide();
    if (kind < 9) return this.pick([null, false, true]);
    const length = this.below(4);
    if (kind < 11) return Array.from({ length }, () => this.key(depth - 1));
    return Object.fromEntries(Array.from({ length }, () => [this.name(), this.key(depth - 1)]));
  }

  /** A key without other strings than ASCII. JSON has halves of surrogate pairs as escapes. */
  asciiKey(depth = 3): unknown {
    for (;;) {
      const key = this.key(depth);
      if (!/[^\0-\x7f]|\\ud/.test(JSON.stringify(key))) return key;
    }
  }

  ascii(): string {
    const letters = this.pick(asciiSets);
    return Array.from({ length: this.below(this.below(20) === 0 ? 40 : 6) }, () => this.pick(letters)).join(
      '',
    );
  }

  wide(): string {
    return Array.from({ length: 1 + this.below(5) }, () => this.pick(wideCharacters)).join('');
  }

  private name(): string {
    return this.below(4) === 0 ? this.wide() : this.ascii();
  }

  /** Any finite double, whatever its bits. */
  private double(): number {
    const view = new DataView(new ArrayBuffer(8));
    for (;;) {
      for (let i = 0; i < 8; i++) view.setUint8(i, this.below(256));
      const value = view.getFloat64(0);
      if (Number.isFinite(value)) return value;
    }
  }
}

const numbers = [
  0,
  -0,
  1,
  -1,
  2,
  10,
  0.1,
  -0.1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  -5e-324,
  2 ** 53,
  2 ** 53 - 1,
  1e21,
];
const everyAscii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const asciiSets: readonly (readonly string[])[] = [
  everyAscii,
  ['a', 'A', 'b', 'B'],
  ['a', 'A', '\0', '\x01', '\t', ' ', '-'],
  ['0', '1', '9', '.', 'a'],
];
const wideCharacters = [
  ...['a', 'A', 'e', 'E', ' ', '-', '1', '\0', 'ss', 'oe', 'l'],
  ...['é', 'É', 'ê', 'ö', 'ø', 'ß', 'œ', 'æ', 'ñ', '·', '\u00a0', '½', '²'],
  ...['e\u0301', 'A\u030a', '\u212b', '\u0301', '\u0327', '\u200b', '\ufeff', '\ufff0', '\uffff'],
  ...['я', 'Ω', 'א', 'अ', 'あ', 'ア', '漢', '한', '😀', '🎉', '👩‍👩‍👧', '\ud83d', '\ude00', '\udc00'],
];
