/** Makes the conditions of a selector ready for a text index: which documents are looked at, and what makes them relevant. */
import type { DocBits } from '../fulltext/doc-bits.js';
import type { Planner } from '../fulltext/make-plan.js';
import type { Plan } from '../fulltext/plan.js';
import type { SearchReader } from '../fulltext/search-reader.js';
import { defaultFieldName } from '../indexes/text-definition.js';
import type { TextNode } from '../selectors/node.js';
import type { TextCondition } from './text-conditions.js';

/** To read a document and evaluate the selector takes as long as to read so many postings. */
const docCost = 50;
/** Ranges that are counted to find out which condition is best: of one condition, and of all. */
const countedMax = 100;
const countedOfAllMax = 500;
/** Of more conditions that must all hold, the rest is left to the selector. */
const conditionsMax = 16;

export interface TextPlan {
  readonly plan: Plan;
  /** What each `$text` finds, where a document may match without it. */
  readonly texts: readonly { readonly node: TextNode; readonly plan: Plan }[];
}

export class TextPlanner {
  readonly #texts = new Map<TextNode, Plan>();
  #hasAlternatives = false;
  #counted = 0;

  constructor(
    private readonly planner: Planner,
    private readonly reader: SearchReader,
  ) {}

  async plan(condition: TextCondition): Promise<TextPlan> {
    const plan = await this.#plan(condition);
    const texts = this.#hasAlternatives ? Array.from(this.#texts, ([node, of]) => ({ node, plan: of })) : [];
    return { plan, texts };
  }

  async #plan(condition: TextCondition): Promise<Plan> {
    switch (condition.kind) {
      case 'all':
        return { kind: 'all', boost: 0 };
      case 'none':
        return { kind: 'none' };
      case 'terms':
        return bitsPlan(await this.planner.walk.between(condition.ranges));
      case 'text': {
        await this.planner.walk.pause();
        const plan = await this.planner.phrase(defaultFieldName, condition.node.text);
        this.#texts.set(condition.node, plan);
        return plan;
      }
      case 'or':
        return await this.#either(condition.args);
      case 'and':
        return await this.#both(condition.args);
    }
  }

  async #either(args: readonly TextCondition[]): Promise<Plan> {
    if (args.some(hasText)) this.#hasAlternatives = true;
    const should: Plan[] = [];
    let bits: DocBits | undefined;
    for (const arg of args) {
      const next = await this.#plan(arg);
      if (next.kind !== 'bits') should.push(next);
      else if (bits === undefined) bits = next.bits;
      else this.#merge(bits, next.bits, 'unite');
    }
    if (bits !== undefined && should.length === 0) return bitsPlan(bits);
    if (bits !== undefined) should.push(bitsPlan(bits));
    return { kind: 'bool', must: [], should, not: [], boost: 1 };
  }

  /** The rarest first. What would cost more than it saves is left to the selector. */
  async #both(args: readonly TextCondition[]): Promise<Plan> {
    const must: Plan[] = [];
    for (const text of args.filter(hasText)) must.push(await this.#plan(text));
    const others = args
      .filter((arg) => !hasText(arg))
      .map((arg) => ({ arg, count: this.#count(arg) }))
      .sort((a, b) => (a.count < b.count ? -1 : a.count > b.count ? 1 : 0))
      .slice(0, conditionsMax);
    let left = must.length === 0 ? Infinity : Math.min(...must.map(docsOf));
    let bits: DocBits | undefined;
    for (const { arg, count } of others) {
      if (count > left * docCost) break;
      const next = await this.#plan(arg);
      if (next.kind === 'none') return next;
      if (next.kind !== 'bits') must.push(next);
      else if (bits === undefined) bits = next.bits;
      else this.#merge(bits, next.bits, 'intersect');
      left = Math.min(left, bits?.count ?? Infinity);
    }
    if (bits !== undefined) must.push(bitsPlan(bits));
    return must.length === 1 ? must[0]! : { kind: 'bool', must, should: [], not: [], boost: 1 };
  }

  #merge(bits: DocBits, other: DocBits, how: 'unite' | 'intersect'): void {
    bits[how](other);
    this.planner.walk.release(other);
  }

  /** About how many postings have to be read. */
  #count(condition: TextCondition): number {
    switch (condition.kind) {
      case 'terms': {
        if (this.#counted > countedOfAllMax) return Infinity;
        const counted = condition.ranges.slice(0, countedMax);
        this.#counted += counted.length;
        const sum = counted.reduce((all, { start, end }) => all + this.reader.countBetween(start, end), 0);
        return (sum * condition.ranges.length) / Math.max(1, counted.length);
      }
      case 'and':
      case 'or':
        return condition.args.reduce((sum, arg) => sum + this.#count(arg), 0);
      case 'none':
        return 0;
      case 'all':
      case 'text':
        return Infinity;
    }
  }
}

const bitsPlan = (bits: DocBits): Plan => ({ kind: 'bits', bits, boost: 0 });

function hasText(condition: TextCondition): boolean {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.args.some(hasText);
  return condition.kind === 'text';
}

function docsOf(plan: Plan): number {
  if (plan.kind === 'none') return 0;
  return plan.kind === 'term' || plan.kind === 'phrase' ? plan.docs : Infinity;
}
