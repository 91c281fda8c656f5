/**
 * What a selector asks of a text index. It finds all documents that match, and perhaps others: negations, patterns and what
 * the index doesn't have are left to the selector, which is evaluated on every document that is found.
 */
import { asBytes, type Bytes } from '../base/bytes.js';
import { prefixEnd } from '../storage/store.js';
import type { KeyRange } from '../fulltext/block-walk.js';
import { termKey, termsKey } from '../search/postings.js';
import {
  anyValue,
  arrayLengthTerm,
  arrayTerm,
  elementName,
  memberPath,
  numberTerms,
  objectTerm,
  pathOf,
  stringTerms,
  termsBeginning,
  termsEqualTo,
  termsFrom,
  termsUpTo,
  valueKey,
  type TermRange,
} from '../search/value-terms.js';
import type { TextDefinition } from '../indexes/text-definition.js';
import { parseField } from '../selectors/field-path.js';
import type { ConditionOperator, SelectorNode, TextNode } from '../selectors/node.js';

export type TextCondition =
  /** Every document of the index may match. */
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  /** Documents with a term in one of the ranges. */
  | { readonly kind: 'terms'; readonly ranges: readonly KeyRange[] }
  | { readonly kind: 'text'; readonly node: TextNode }
  | { readonly kind: 'and' | 'or'; readonly args: readonly TextCondition[] };

const all: TextCondition = { kind: 'all' };
const none: TextCondition = { kind: 'none' };

/** Members of an object, or elements of a list, that are looked for beside the object or the list itself. */
const partsMax = 16;

export class ConditionReader {
  /** Undefined for all. */
  readonly #paths: ReadonlySet<string> | undefined;

  constructor(private readonly definition: TextDefinition) {
    this.#paths = definition.fields && new Set(definition.fields.map(({ name }) => pathOf(parseField(name))));
  }

  read(node: SelectorNode, path = ''): TextCondition {
    switch (node.kind) {
      case 'and':
        return both(node.args.map((arg) => this.read(arg, path)));
      case 'or':
        return node.args.length === 0 ? all : either(node.args.map((arg) => this.read(arg, path)));
      case 'field':
        return this.#field(node.field, node.condition, path);
      case 'parts':
        return this.#parts(node.operator, node.arg, path);
      case 'condition':
        return this.#condition(node.operator, node.value, path);
      case 'text':
        return { kind: 'text', node };
      case 'everything':
      case 'nor':
      case 'not':
        return all;
    }
  }

  #field(field: string, condition: SelectorNode, outer: string): TextCondition {
    if (isAbsence(condition)) return all;
    const names = field === '' ? [] : parseField(field);
    if (outer === '' && names[0] === '_id' && names.length === 1) return idCondition(condition);
    // What else a document has below such names is not in the index.
    if (outer === '' && names[0]?.startsWith('_') !== false) return all;
    const path = names.reduce(memberPath, outer);
    const found = this.read(condition, path);
    // Where nothing else can be said: a condition is about what is there.
    return found.kind === 'all' ? this.#terms(path, [exactly(anyValue)]) : found;
  }

  #parts(operator: string, arg: SelectorNode, path: string): TextCondition {
    if (operator === '$keyMapMatch') return this.#terms(path, [exactly(objectTerm)]);
    const inside = this.read(arg, memberPath(path, elementName));
    return both([this.#terms(path, [exactly(arrayTerm)]), inside]);
  }

  #condition(operator: ConditionOperator, value: unknown, path: string): TextCondition {
    switch (operator) {
      case '$eq':
        return this.#equal(value, path);
      case '$in':
        return either((value as unknown[]).map((each) => this.#isOrHas(each, path)));
      case '$all':
        return this.#all(value as unknown[], path);
      case '$size':
        // An index without the lengths of arrays finds none, as in CouchDB.
        if (!this.definition.arrayLengths) return none;
        return this.#terms(path, [exactly(arrayLengthTerm(value as number))]);
      case '$type':
        return this.#terms(path, termsOfType(value as string));
      case '$lt':
      case '$lte':
        return this.#terms(path, termsUpTo(value));
      case '$gt':
      case '$gte':
        return this.#terms(path, termsFrom(value));
      case '$mod':
        return this.#terms(path, numberTerms);
      case '$regex':
        return this.#terms(path, stringTerms);
      case '$beginsWith':
        return this.#terms(path, termsBeginning(value as string));
      case '$ne':
      case '$nin':
      case '$exists':
        return all;
    }
  }

  #equal(value: unknown, path: string): TextCondition {
    const own = this.#terms(path, termsEqualTo(value));
    if (typeof value !== 'object' || value === null) return own;
    const inside = memberPath(path, elementName);
    const parts: [string, unknown][] = Array.isArray(value)
      ? value.slice(0, partsMax).map((each: unknown) => [inside, each])
      : Object.entries(value)
          .slice(0, partsMax)
          .map(([name, member]) => [memberPath(path, name), member]);
    return both([own, ...parts.map(([at, part]) => this.#terms(at, termsEqualTo(part)))]);
  }

  /** `$in` also finds arrays that have the value. */
  #isOrHas(value: unknown, path: string): TextCondition {
    const terms = termsEqualTo(value);
    return either([this.#terms(path, terms), this.#terms(memberPath(path, elementName), terms)]);
  }

  #all(values: readonly unknown[], path: string): TextCondition {
    const own = this.#terms(path, [exactly(arrayTerm)]);
    // One array among the values may be the whole field.
    if (values.length === 1 && Array.isArray(values[0])) return own;
    const inside = memberPath(path, elementName);
    return both([own, ...values.slice(0, partsMax).map((each) => this.#terms(inside, termsEqualTo(each)))]);
  }

  #terms(path: string, ranges: readonly TermRange[]): TextCondition {
    if (this.#paths !== undefined && !this.#paths.has(path)) return all;
    return {
      kind: 'terms',
      ranges: ranges.map(({ low, high }) => ({
        start: valueKey(path, low),
        end: asBytes(`${valueKey(path, high)}\0`),
      })),
    };
  }
}

const exactly = (term: Bytes): TermRange => ({ low: term, high: term });

const isAbsence = (node: SelectorNode): boolean =>
  node.kind === 'condition' && node.operator === '$exists' && node.value === false;

function termsOfType(type: string): readonly TermRange[] {
  switch (type) {
    case 'null':
      return termsEqualTo(null);
    case 'boolean':
      return [...termsEqualTo(false), ...termsEqualTo(true)];
    case 'number':
      return numberTerms;
    case 'string':
      return stringTerms;
    case 'array':
      return [exactly(arrayTerm)];
    case 'object':
      return [exactly(objectTerm)];
    default:
      return [exactly(anyValue)];
  }
}

/** Ids are in every search index as they are, and in the order of their bytes. */
function idCondition(node: SelectorNode): TextCondition {
  if (node.kind !== 'condition') return all;
  const { operator, value } = node;
  const ids = termsKey('_id');
  if (operator === '$in') return { kind: 'terms', ranges: (value as unknown[]).flatMap(idRange) };
  if (typeof value !== 'string') return all;
  const key = termKey('_id', value.toWellFormed());
  if (operator === '$eq') return { kind: 'terms', ranges: idRange(value) };
  if (operator === '$lt' || operator === '$lte')
    return { kind: 'terms', ranges: [{ start: ids, end: asBytes(`${key}\0`) }] };
  if (operator === '$gt' || operator === '$gte')
    return { kind: 'terms', ranges: [{ start: key, end: prefixEnd(ids) }] };
  return all;
}

function idRange(id: unknown): KeyRange[] {
  if (typeof id !== 'string') return [];
  const start = termKey('_id', id.toWellFormed());
  return [{ start, end: asBytes(`${start}\0`) }];
}

function both(args: readonly TextCondition[]): TextCondition {
  if (args.some(({ kind }) => kind === 'none')) return none;
  const rest = args.filter(({ kind }) => kind !== 'all');
  if (rest.length <= 1) return rest[0] ?? all;
  return { kind: 'and', args: rest };
}

function either(args: readonly TextCondition[]): TextCondition {
  if (args.some(({ kind }) => kind === 'all')) return all;
  const rest = args.filter(({ kind }) => kind !== 'none');
  if (rest.length <= 1) return rest[0] ?? none;
  const ranges = rest.flatMap((each) => (each.kind === 'terms' ? each.ranges : []));
  const others = rest.filter(({ kind }) => kind !== 'terms');
  if (ranges.length === 0) return { kind: 'or', args: others };
  const terms: TextCondition = { kind: 'terms', ranges };
  return others.length === 0 ? terms : { kind: 'or', args: [terms, ...others] };
}
