/**
 * The normal form of a selector. Every condition stands below the whole path of its field, negations are pushed down to
 * the conditions, and what was implied (`$eq`, `$and`) is said. The planner reads it, `_explain` shows it, and
 * `compile.ts` makes a function of it.
 */
export type SelectorNode =
  /** The empty selector, which everything matches. */
  | { readonly kind: 'everything' }
  | { readonly kind: Combination; readonly args: readonly SelectorNode[] }
  | { readonly kind: 'not'; readonly arg: SelectorNode }
  /** A condition on the value at a path; the empty path is the value itself. */
  | { readonly kind: 'field'; readonly field: string; readonly condition: SelectorNode }
  | { readonly kind: 'parts'; readonly operator: PartsOperator; readonly arg: SelectorNode }
  | { readonly kind: 'condition'; readonly operator: ConditionOperator; readonly value: unknown }
  | TextNode;

/** `$text`: words that a text index has to find. What that comes to for a document is told before it is evaluated. */
export interface TextNode {
  readonly kind: 'text';
  readonly text: string;
  holds: boolean;
}

/** All, one, or none of the selectors. */
export type Combination = 'and' | 'or' | 'nor';

/** Operators whose argument is a selector for the parts of a value. */
export type PartsOperator = '$elemMatch' | '$allMatch' | '$keyMapMatch';

export type ComparisonOperator = '$lt' | '$lte' | '$eq' | '$ne' | '$gte' | '$gt';

export type ConditionOperator =
  | ComparisonOperator
  | '$in'
  | '$nin'
  | '$all'
  | '$exists'
  | '$type'
  | '$mod'
  | '$regex'
  | '$beginsWith'
  | '$size';

/** The selector as JSON, in the form that `_explain` shows. */
export function selectorJson(node: SelectorNode): unknown {
  switch (node.kind) {
    case 'everything':
      return {};
    case 'and':
    case 'or':
    case 'nor':
      return { [`$${node.kind}`]: node.args.map(selectorJson) };
    case 'not':
      return { $not: selectorJson(node.arg) };
    case 'field':
      return Object.fromEntries([[node.field, selectorJson(node.condition)]]);
    case 'parts':
      return { [node.operator]: selectorJson(node.arg) };
    case 'condition':
      return { [node.operator]: node.value };
    case 'text':
      return { $default: { $text: node.text } };
  }
}

/** Whether a selector needs a text index. */
export function hasText(node: SelectorNode): boolean {
  switch (node.kind) {
    case 'text':
      return true;
    case 'and':
    case 'or':
    case 'nor':
      return node.args.some(hasText);
    case 'not':
    case 'parts':
      return hasText(node.arg);
    case 'field':
      return hasText(node.condition);
    case 'everything':
    case 'condition':
      return false;
  }
}
