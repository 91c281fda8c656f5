import type { Runtime } from '../base/runtime.js';
import { badRequest } from '../base/errors.js';
import { prefixEnd } from '../storage/store.js';
import { compileRegex } from '../selectors/regex/regex.js';
import type { Analyzer } from '../search/analysis/analyzer.js';
import { bm25 } from '../search/bm25.js';
import { editDistance, wildcardPattern } from '../search/patterns.js';
import { lengthKey, numberKey, termKey, termsKey } from '../search/postings.js';
import type { QueryNode, RangeNode } from '../search/query/query-node.js';
import { plainNumber, type NumberReader } from '../search/query/query-numbers.js';
import { asBytes, type Bytes } from '../base/bytes.js';
import { BlockWalk } from './block-walk.js';
import type { IndexStatistics } from './index-statistics.js';
import type { Plan } from './plan.js';
import { termOf, type SearchReader } from './search-reader.js';

/** Terms that a fuzzy one stands for, the most similar ones. */
const fuzzyTermsMax = 50;
const fuzzyEditsMax = 2;
const fuzzyLengthMax = 255;
/** Words that one text of a query may have. */
const phraseTermsMax = 1_024;

/** Makes queries ready for an index. `reader` gives it as it is at the moment; `check` throws when time is up. */
export class Planner {
  /** Looks into the index for patterns and ranges. */
  readonly walk: BlockWalk;
  /** Documents of each term: a query may have a term a thousand times. */
  readonly #counts = new Map<Bytes, number>();

  constructor(
    private readonly reader: () => SearchReader,
    private readonly statistics: IndexStatistics,
    private readonly analyzer: Analyzer,
    check: () => void,
    runtime: Runtime,
    private readonly readNumber: NumberReader = plainNumber,
  ) {
    this.walk = new BlockWalk(reader, check, runtime.slice());
  }

  async plan(node: QueryNode): Promise<Plan> {
    const boost = node.boost ?? 1;
    await this.walk.pause();
    switch (node.kind) {
      case 'all':
        return { kind: 'all', boost };
      case 'text':
        return await this.#text(node, boost);
      case 'wildcard':
        return await this.#wildcard(node.field, node.text, boost);
      case 'regex':
        return await this.#regex(node.field, node.text, boost);
      case 'fuzzy':
        return await this.#fuzzy(node, boost);
      case 'range':
        return await this.#range(node, boost);
      case 'bool': {
        const of = async (occur: string): Promise<Plan[]> => {
          const plans: Plan[] = [];
          for (const clause of node.clauses)
            if (clause.occur === occur) plans.push(await this.plan(clause.node));
          return plans;
        };
        return {
          kind: 'bool',
          must: await of('must'),
          should: await of('should'),
          not: await of('not'),
          boost,
        };
      }
    }
  }

  /** What finds a text as a phrase of its words. */
  async phrase(field: string, text: string): Promise<Plan> {
    return await this.#words(field, text, 0, 1);
  }

  async #text(node: Extract<QueryNode, { kind: 'text' }>, boost: number): Promise<Plan> {
    const { field, text, isQuoted, slop } = node;
    const words = await this.#words(field, text, slop, boost);
    const value = isQuoted ? undefined : this.readNumber(text);
    if (value === undefined) return words;
    const key = numberKey(field, value);
    const number: Plan = { kind: 'bits', bits: await this.walk.bits(key, asBytes(`${key}\0`)), boost };
    return words.kind === 'none'
      ? number
      : { kind: 'bool', must: [], should: [number, words], not: [], boost: 1 };
  }

  async #words(field: string, text: string, slop: number, boost: number): Promise<Plan> {
    const terms: { key: Bytes; at: number }[] = [];
    for (const { term, position } of this.analyzer.tokens(field, text)) {
      if (term !== '') terms.push({ key: termKey(field, term.toWellFormed()), at: position });
      if (terms.length > phraseTermsMax)
        throw badRequest(`A text of the query has more than ${phraseTermsMax} words.`);
    }
    if (terms.length === 0) return { kind: 'none' };
    if (terms.length === 1) return this.#term(field, terms[0]!.key, boost);
    const counts: number[] = [];
    for (const { key } of terms) {
      await this.walk.pause();
      const count = this.#count(key);
      if (count === 0) return { kind: 'none' };
      counts.push(count);
    }
    const docs = Math.min(...counts);
    const scores = terms.map(({ key }, i) => this.#score(field, key, counts[i]!));
    const score = (frequency: number, length: number): number =>
      scores.reduce((sum, each) => sum + each(frequency, length), 0);
    return { kind: 'phrase', terms, slop, score, boost, docs };
  }

  #term(field: string, key: Bytes, boost: number): Plan {
    const docs = this.#count(key);
    return docs === 0
      ? { kind: 'none' }
      : { kind: 'term', key, score: this.#score(field, key, docs), boost, docs };
  }

  #count(key: Bytes): number {
    let count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, (count = this.reader().count(key)));
    return count;
  }

  #score(field: string, key: Bytes, docs: number): ReturnType<typeof bm25> {
    return bm25({ ...this.statistics.field(field), docsWithTerm: this.statistics.count(key, docs) });
  }

  async #wildcard(field: string, text: string, boost: number): Promise<Plan> {
    if (text === '*') return await this.#exists(field, boost);
    const { prefix, isPrefix, matches } = wildcardPattern(this.#expanded(field, text));
    return await this.#matching(field, prefix, isPrefix ? undefined : matches, boost);
  }

  async #regex(field: string, text: string, boost: number): Promise<Plan> {
    let matches: (term: string) => boolean;
    try {
      matches = compileRegex(`^(?:${this.#expanded(field, text)})$`);
    } catch {
      throw badRequest(`The regular expression /${text.slice(0, 200)}/ cannot be used.`);
    }
    return await this.#matching(field, '', matches, boost);
  }

  /** Patterns are not analyzed, but written in lower case as the terms are. */
  #expanded(field: string, text: string): string {
    return this.analyzer.isKeyword(field) ? text : text.toLowerCase();
  }

  async #matching(
    field: string,
    prefix: string,
    matches: ((term: string) => boolean) | undefined,
    boost: number,
  ): Promise<Plan> {
    const start = termKey(field, prefix);
    const fieldKey = termsKey(field);
    const test = matches && ((key: Bytes) => matches(termOf(key, fieldKey)));
    return { kind: 'bits', bits: await this.walk.bits(start, prefixEnd(start), test), boost };
  }

  async #exists(field: string, boost: number): Promise<Plan> {
    const key = lengthKey(field);
    return { kind: 'bits', bits: await this.walk.bits(key, asBytes(`${key}\0`)), boost };
  }

  async #fuzzy(node: Extract<QueryNode, { kind: 'fuzzy' }>, boost: number): Promise<Plan> {
    const text = this.#expanded(node.field, node.text);
    const letters = [...text];
    if (letters.length > fuzzyLengthMax)
      throw badRequest(`A fuzzy term has more than ${fuzzyLengthMax} characters.`);
    const edits =
      node.similarity >= 1 ? Math.floor(node.similarity) : Math.floor((1 - node.similarity) * letters.length);
    const max = Math.min(edits, fuzzyEditsMax);
    const found: { key: Bytes; distance: number; boost: number }[] = [];
    const fieldKey = termsKey(node.field);
    await this.walk.terms(fieldKey, prefixEnd(fieldKey), (key) => {
      const term = [...termOf(key, fieldKey)];
      const distance = editDistance(letters, term, max);
      const length = Math.min(term.length, letters.length);
      if (distance > max || (distance > 0 && length <= distance)) return;
      found.push({ key, distance, boost: boost * (1 - distance / Math.max(1, length)) });
      if (found.length > fuzzyTermsMax * 2) keepClosest(found);
    });
    keepClosest(found);
    const should = found.map(({ key, boost: own }) => this.#term(node.field, key, own));
    return { kind: 'bool', must: [], should, not: [], boost: 1 };
  }

  async #range(node: RangeNode, boost: number): Promise<Plan> {
    const { field, low, high, includesLow, includesHigh } = node;
    if (low === undefined && high === undefined) return await this.#exists(field, boost);
    const least = low === undefined ? -Infinity : this.readNumber(low);
    const most = high === undefined ? Infinity : this.readNumber(high);
    if (least !== undefined && most !== undefined) {
      const from = numberKey(field, least);
      const to = numberKey(field, most);
      const bits = await this.walk.bits(
        includesLow ? from : asBytes(`${from}\0`),
        includesHigh ? asBytes(`${to}\0`) : to,
      );
      return { kind: 'bits', bits, boost };
    }
    const fieldKey = termsKey(field);
    const from = low === undefined ? fieldKey : termKey(field, this.#expanded(field, low));
    const to = high === undefined ? prefixEnd(fieldKey) : termKey(field, this.#expanded(field, high));
    const bits = await this.walk.bits(
      includesLow || low === undefined ? from : asBytes(`${from}\0`),
      includesHigh && high !== undefined ? asBytes(`${to}\0`) : to,
    );
    return { kind: 'bits', bits, boost };
  }
}

function keepClosest(found: { distance: number }[]): void {
  found.sort((a, b) => a.distance - b.distance);
  found.length = Math.min(found.length, fuzzyTermsMax);
}
