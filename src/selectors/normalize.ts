/**
 * From the selector a client wrote to its normal form, in CouchDB's three steps, because the order shows in the results:
 *
 * 1. every object becomes one operator or field, and arguments are checked;
 * 2. names of fields move down to the conditions and become whole paths;
 * 3. negations move down too. A negated condition still asks for the field: `{"$not": {"a": 1}}` is `{"a": {"$ne": 1}}`,
 *    which a document without `a` does not match. Below `$elemMatch` and its like they stay, and there a `$not` is true
 *    where the field is absent.
 */
import { RequestError } from '../base/errors.js';
import { compileRegex } from './regex/regex.js';
import { hasText, type ConditionOperator, type SelectorNode } from './node.js';
import {
  BadModulus,
  badArgument,
  defaultField,
  invalidOperator,
  invalidSelector,
  invalidTextField,
  invalidTextOperator,
  shown,
  unsupportedOperator,
} from './refusals.js';

/** No selector written by hand comes near; it keeps recursion and the time for one document bounded. */
const depthMax = 200;
const conditionsMax = 10_000;
const listMax = 20_000;
const valuesMax = 100_000;
/** Of the whole paths of all conditions together: one long name may stand above many. */
const pathCharactersMax = 4_000_000;
/** All of them may be held against one document, without a pause. */
const patternsMax = 200;
/** Each is looked up in a text index, word by word. */
const textsMax = 100;
/** Of all of them together. */
const textCharactersMax = 8_192;

/** A selector with more values than these is read in steps. */
const valuesAtOnce = 500;

/** Whether reading it takes so long that others have to be let on meanwhile. */
export const isLargeSelector = (selector: unknown): boolean => partsOf(selector, valuesAtOnce) > valuesAtOnce;

/** `$text` is refused unless there may be a text index to answer it. In steps, each of which takes a few milliseconds at most. */
export function* normalizeSelector(selector: unknown, allowsText: boolean): Generator<void, SelectorNode> {
  if (typeof selector !== 'object' || selector === null || Array.isArray(selector))
    throw new RequestError(
      'invalid_selector_json',
      `Selector must be a JSON object, not: ${shown(selector)}`,
    );
  if (Object.keys(selector).length === 0) return { kind: 'everything' };
  if (partsOf(selector, valuesMax) > valuesMax)
    throw invalidSelector(`Selector has more than ${valuesMax} values.`);
  yield;
  const said = new OperatorReader(allowsText).read(selector, 0);
  yield;
  const pushed = new FieldPusher().push(said, '');
  yield;
  const normal = pushNegations(pushed);
  if (normal.kind === 'field' && normal.field === '')
    throw invalidSelector('One or more conditions is missing a field name.');
  return normal;
}

/** How many values it holds at all depths; no more than one above the most are counted. JSON is not nested too deep. */
function partsOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let count = parts.length;
  for (let i = 0; i < parts.length && count <= most; i++) {
    const part = parts[i];
    if (typeof part === 'object' && part !== null) count += partsOf(part, most - count);
  }
  return count;
}

/** The first step. */
class OperatorReader {
  #conditions = 0;
  #patterns = 0;
  #texts = 0;
  #textCharacters = 0;
  #fields = 0;

  constructor(private readonly allowsText: boolean) {}

  read(selector: unknown, depth: number): SelectorNode {
    if (depth > depthMax) throw invalidSelector(`Selector is nested deeper than ${depthMax} levels.`);
    if (typeof selector !== 'object' || selector === null || Array.isArray(selector))
      return this.#condition('$eq', selector);
    const members = Object.entries(selector);
    if (members.length === 0) return this.#condition('$eq', selector);
    const [[name, value]] = members as [[string, unknown]];
    if (members.length === 1) return this.#member(name, value, depth);
    return { kind: 'and', args: members.map(([key, each]) => this.#member(key, each, depth)) };
  }

  #member(name: string, value: unknown, depth: number): SelectorNode {
    if (!name.startsWith('$')) {
      this.#fields++;
      const condition = this.read(value, depth + 1);
      this.#fields--;
      return { kind: 'field', field: name, condition };
    }
    switch (name) {
      case '$and':
      case '$or':
      case '$nor':
        if (!Array.isArray(value)) throw badArgument(name, value);
        return { kind: combinations[name], args: value.map((each) => this.read(each, depth + 1)) };
      case '$not':
      case '$elemMatch':
      case '$allMatch':
      case '$keyMapMatch':
        if (typeof value !== 'object' || value === null || Array.isArray(value))
          throw badArgument(name, value);
        return name === '$not'
          ? { kind: 'not', arg: this.read(value, depth + 1) }
          : { kind: 'parts', operator: name, arg: this.read(value, depth + 1) };
      default:
        if (name === '$text') return this.#text(value);
        if (name === '$default') throw defaultField();
        if (unsupported.has(name)) throw unsupportedOperator(name);
        if (!isCondition(name)) throw invalidOperator(name);
        if (name === '$regex' && ++this.#patterns > patternsMax)
          throw invalidSelector(`Selector has more than ${patternsMax} patterns.`);
        argumentChecks[name]?.(value, name);
        return this.#condition(name, value);
    }
  }

  #text(value: unknown): SelectorNode {
    if (typeof value === 'object') throw badArgument('$text', value);
    if (!this.allowsText) throw unsupportedOperator('$text');
    if (typeof value !== 'string') throw this.#fields > 0 ? invalidTextField() : invalidTextOperator('$text');
    this.#textCharacters += value.length;
    if (this.#textCharacters > textCharactersMax)
      throw invalidSelector(`Selector has more than ${textCharactersMax} characters of $text.`);
    if (++this.#texts > textsMax)
      throw invalidSelector(`Selector has more than ${textsMax} $text operators.`);
    return { kind: 'text', text: value, holds: true };
  }

  #condition(operator: ConditionOperator, value: unknown): SelectorNode {
    if (++this.#conditions > conditionsMax)
      throw invalidSelector(`Selector has more than ${conditionsMax} conditions.`);
    return { kind: 'condition', operator, value };
  }
}

const combinations = { $and: 'and', $or: 'or', $nor: 'nor' } as const;

const unsupported = new Set(['$where', '$geoWithin', '$geoIntersects', '$near', '$nearSphere']);

type ArgumentCheck = ((value: unknown, operator: string) => void) | undefined;

const mustBe =
  (right: (value: unknown) => boolean): ArgumentCheck =>
  (value, operator) => {
    if (!right(value)) throw badArgument(operator, value);
  };

const isText = (value: unknown): value is string => typeof value === 'string';

function isList(value: unknown, operator: string): void {
  if (!Array.isArray(value)) throw badArgument(operator, value);
  if (value.length > listMax) throw invalidSelector(`${operator} has more than ${listMax} elements.`);
}

const argumentChecks: Readonly<Record<ConditionOperator, ArgumentCheck>> = {
  $lt: undefined,
  $lte: undefined,
  $eq: undefined,
  $ne: undefined,
  $gte: undefined,
  $gt: undefined,
  $in: isList,
  $nin: isList,
  $all: isList,
  $exists: mustBe((value) => typeof value === 'boolean'),
  $type: mustBe(isText),
  $size: mustBe((value) => Number.isInteger(value) && (value as number) >= 0),
  $mod: (value) => {
    const [divisor, remainder, ...more] = Array.isArray(value) ? (value as unknown[]) : [];
    if (!Number.isInteger(divisor) || !Number.isInteger(remainder) || more.length > 0)
      throw new BadModulus(value);
    if (divisor === 0) throw badArgument('$mod', value);
  },
  $regex: (value) => {
    if (!isText(value)) throw invalidOperator('$regex');
    compileRegex(value);
  },
  $beginsWith: (value) => {
    if (!isText(value)) throw invalidOperator('$beginsWith');
  },
};

const isCondition = (name: string): name is ConditionOperator => Object.hasOwn(argumentChecks, name);

/** The second step. */
class FieldPusher {
  #characters = 0;

  push(node: SelectorNode, path: string): SelectorNode {
    switch (node.kind) {
      case 'everything':
        return node;
      case 'and':
      case 'or':
      case 'nor':
        return { kind: node.kind, args: node.args.map((arg) => this.push(arg, path)) };
      case 'not':
        return { kind: 'not', arg: this.push(node.arg, path) };
      case 'field':
        return this.push(node.condition, path === '' ? node.field : `${path}.${node.field}`);
      case 'parts':
        if (hasText(node.arg)) throw invalidTextField();
        return this.#field(path, { ...node, arg: this.push(node.arg, '') });
      case 'condition':
        return this.#field(path, node);
      case 'text':
        if (path !== '') throw invalidTextField();
        return node;
    }
  }

  #field(field: string, condition: SelectorNode): SelectorNode {
    this.#characters += field.length;
    if (this.#characters > pathCharactersMax)
      throw invalidSelector(`Names of fields have more than ${pathCharactersMax} characters in all.`);
    return { kind: 'field', field, condition };
  }
}

/** The third step. */
function pushNegations(node: SelectorNode): SelectorNode {
  switch (node.kind) {
    case 'not':
      return negate(node.arg);
    case 'nor':
      return { kind: 'and', args: node.args.map(negate) };
    case 'and':
    case 'or':
      return { kind: node.kind, args: node.args.map(pushNegations) };
    case 'everything':
    case 'field':
    case 'parts':
    case 'condition':
    case 'text':
      return node;
  }
}

function negate(node: SelectorNode): SelectorNode {
  switch (node.kind) {
    case 'not':
      return pushNegations(node.arg);
    case 'nor':
      return { kind: 'or', args: node.args.map(pushNegations) };
    case 'and':
      return { kind: 'or', args: node.args.map(negate) };
    case 'or':
      return { kind: 'and', args: node.args.map(negate) };
    case 'field':
      return { kind: 'field', field: node.field, condition: negate(node.condition) };
    case 'everything':
    case 'parts':
      return { kind: 'not', arg: node };
    case 'text':
      throw badArgument('$not', { $text: node.text });
    case 'condition': {
      if (node.operator === '$exists') return { ...node, value: node.value !== true };
      const operator = opposites[node.operator];
      return operator === undefined ? { kind: 'not', arg: node } : { ...node, operator };
    }
  }
}

const opposites: Readonly<Partial<Record<ConditionOperator, ConditionOperator>>> = {
  $lt: '$gte',
  $lte: '$gt',
  $eq: '$ne',
  $ne: '$eq',
  $gte: '$lt',
  $gt: '$lte',
  $in: '$nin',
  $nin: '$in',
};
