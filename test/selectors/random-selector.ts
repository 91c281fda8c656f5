/** Random selectors and documents that they have a chance to match, for tests: the same seed gives the same. */
import { RandomJson } from '../support/random-json.js';

const fields = ['a', 'b', 'c', 'a.b', 'a.0', 'a.1.b', 'b.a', 'x\\.y', '_id', 'toString'];
const texts = ['', 'a', 'A', 'b', 'ab', 'aé', 'ae\u0301', 'é', 'e\u0301', 'z', '日本', '😀', '\ufffd', 'a-b'];
const numbers = [0, 1, -1, 2, 3, 1.5, -3, 10, 1e21];
const patterns = ['^a', 'b$', '.', '^$', 'a|b', '(?i)^A', '[a-e]'];

export class RandomSelector {
  readonly #random: RandomJson;

  constructor(seed: number) {
    this.#random = new RandomJson(seed);
  }

  value(depth: number): unknown {
    const kind = this.#random.below(depth > 0 ? 8 : 6);
    if (kind === 7) return this.object(depth);
    if (kind === 6) return this.list(() => this.value(depth - 1));
    if (kind === 5) return this.#random.pick([null, true, false]);
    return kind < 3 ? this.#random.pick(texts) : this.#random.pick(numbers);
  }

  object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let count = this.#random.below(4); count > 0; count--)
      object[this.#random.pick(['a', 'b', 'c', '0', '1', 'x.y', 'toString'])] = this.value(depth - 1);
    return object;
  }

  doc(): Record<string, unknown> {
    return { _id: this.#random.pick(texts), ...this.object(3) };
  }

  selector(depth: number): Record<string, unknown> {
    const selector: Record<string, unknown> = {};
    for (let count = 1 + this.#random.below(2); count > 0; count--) {
      if (depth > 0 && this.#random.below(3) === 0) this.#combine(selector, depth);
      else selector[this.#random.pick(fields)] = this.#condition(depth);
    }
    return selector;
  }

  #combine(selector: Record<string, unknown>, depth: number): void {
    const operator = this.#random.pick(['$and', '$or', '$nor', '$not']);
    selector[operator] =
      operator === '$not' ? this.selector(depth - 1) : this.list(() => this.selector(depth - 1));
  }

  #condition(depth: number): unknown {
    const kind = this.#random.below(12);
    if (kind === 0) return this.value(1);
    if (kind === 1 && depth > 0) return this.selector(depth - 1);
    if (kind === 2 && depth > 0)
      return { [this.#random.pick(['$and', '$or', '$nor'])]: this.list(() => this.#condition(depth - 1)) };
    if (kind === 3) return { $not: this.#operators(depth) };
    return this.#operators(depth);
  }

  #operators(depth: number): Record<string, unknown> {
    const operators: Record<string, unknown> = {};
    for (let count = 1 + this.#random.below(2); count > 0; count--) this.#operator(operators, depth);
    return operators;
  }

  #operator(into: Record<string, unknown>, depth: number): void {
    const pick = this.#random.below(18);
    if (pick < 6) into[['$lt', '$lte', '$eq', '$ne', '$gte', '$gt'][pick]!] = this.value(1);
    else if (pick < 9) into[['$in', '$nin', '$all'][pick - 6]!] = this.list(() => this.value(1));
    else if (pick === 9) into['$exists'] = this.#random.below(2) === 0;
    else if (pick === 10) into['$type'] = this.#random.pick(['null', 'boolean', 'number', 'string', 'array']);
    else if (pick === 11) into['$size'] = this.#random.below(3);
    else if (pick === 12) into['$mod'] = [this.#random.pick([2, -3, 5]), this.#random.pick([0, 1, -1])];
    else if (pick === 13) into['$regex'] = this.#random.pick(patterns);
    else if (pick === 14) into['$beginsWith'] = this.#random.pick(texts);
    else if (depth > 0) into[['$elemMatch', '$allMatch', '$keyMapMatch'][pick - 15]!] = this.#parts(depth);
    else into['$eq'] = this.value(0);
  }

  #parts(depth: number): Record<string, unknown> {
    return this.#random.below(2) === 0 ? this.#operators(depth - 1) : this.selector(depth - 1);
  }

  private list<Item>(make: () => Item): Item[] {
    return Array.from({ length: this.#random.below(4) }, make);
  }
}
