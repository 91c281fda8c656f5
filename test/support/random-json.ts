/** Random JSON text for tests: the same seed gives the same text. */
export class RandomJson {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed | 0;
  }

  /** A whole number from 0 to below `bound` (mulberry32). */
  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  object(depth: number): string {
    const members = Array.from({ length: this.below(this.below(10) === 0 ? 40 : 6) }, () => {
      return `${this.space()}${this.key()}${this.space()}:${this.value(depth - 1)}`;
    });
    return `${this.space()}{${members.join(',')}${this.space()}}${this.space()}`;
  }

  value(depth: number): string {
    const kind = this.below(depth > 0 ? 6 : 4);
    if (kind === 5) return this.object(depth);
    if (kind === 4) {
      const items = Array.from({ length: this.below(5) }, () => this.value(depth - 1));
      return `${this.space()}[${this.space()}${items.join(',')}]${this.space()}`;
    }
    return `${this.space()}${kind < 2 ? this.string() : this.pick(words)}${this.space()}`;
  }

  private key(): string {
    return this.below(3) === 0 ? this.string() : this.pick(keys);
  }

  private string(): string {
    return `"${Array.from({ length: this.below(6) }, () => this.pick(characters)).join('')}"`;
  }

  private space(): string {
    return this.below(4) === 0 ? this.pick([' ', '\n', '\t', '\r\n  ', '    ']) : '';
  }
}

const words = ['0', '-0', '1.0', '1e2', '-12.5E+3', '12345678901234567890', '1e300', 'true', 'false', 'null'];
const keys = [
  '"a"',
  '"\\u0061"',
  '"b"',
  '"_id"',
  '"\\u005fid"',
  '"_x"',
  '"__proto__"',
  '"1"',
  '""',
  '"longer-name"',
];
const characters = [
  'a',
  'Z',
  ' ',
  '/',
  '{',
  ',',
  ']',
  '\\"',
  '\\\\',
  '\\/',
  '\\n',
  '\\u00e9',
  'é',
  '€',
  '😀',
  '\\ud83d\\ude00',
];
