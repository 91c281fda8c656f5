/** What the planner asks a selector. */
import type { SelectorNode } from '../selectors/node.js';

/** Whether every document that matches has a field. An index leaves out documents that lack one of its fields. */
export function requiresField(node: SelectorNode, field: string): boolean {
  switch (node.kind) {
    case 'field':
      return node.field === field && !isAbsence(node.condition);
    case 'and':
      return node.args.some((arg) => requiresField(arg, field));
    case 'or':
      return node.args.length > 0 && node.args.every((arg) => requiresField(arg, field));
    case 'everything':
    case 'nor':
    case 'not':
    case 'parts':
    case 'condition':
    case 'text':
      return false;
  }
}

/** Whether an `$or` without alternatives is in a selector that finds nothing: CouchDB reads any index for it. */
export function findsNothing(node: SelectorNode): boolean {
  if (node.kind !== 'and') return isEmptyOr(node);
  return node.args.some(isEmptyOr) && node.args.some(isInNothing);
}

const isEmptyOr = (node: SelectorNode): boolean => node.kind === 'or' && node.args.length === 0;

const isInNothing = (node: SelectorNode): boolean =>
  node.kind === 'field' &&
  node.condition.kind === 'condition' &&
  node.condition.operator === '$in' &&
  (node.condition.value as unknown[]).length === 0;

/** Whether an index has what matches as CouchDB sees it, for which an `$or` without alternatives has every field. */
export function mayRequireField(node: SelectorNode, field: string): boolean {
  if (node.kind === 'and') return node.args.some((arg) => mayRequireField(arg, field));
  if (node.kind === 'or') return node.args.every((arg) => mayRequireField(arg, field));
  return requiresField(node, field);
}

const none: ReadonlySet<string> = new Set<string>();

const isAbsence = (condition: SelectorNode): boolean =>
  condition.kind === 'condition' && condition.operator === '$exists' && condition.value === false;

/** Whether all documents that match have the same value in a field, so that it has no say in their order. */
export function isConstant(node: SelectorNode, field: string): boolean {
  if (node.kind === 'and') return node.args.some((arg) => isConstant(arg, field));
  if (node.kind !== 'field' || node.field !== field) return false;
  return node.condition.kind === 'condition' && node.condition.operator === '$eq';
}

/** Fields with a condition that an index can be read by, among those that hold for every match. */
export function indexableFields(node: SelectorNode): ReadonlySet<string> {
  if (node.kind === 'and') return new Set(node.args.flatMap((arg) => [...indexableFields(arg)]));
  if (node.kind !== 'field' || node.condition.kind !== 'condition') return none;
  return ranged.has(node.condition.operator) || isAbsence(node.condition) || isPresence(node.condition)
    ? new Set([node.field])
    : none;
}

const ranged: ReadonlySet<string> = new Set(['$lt', '$lte', '$eq', '$gt', '$gte', '$beginsWith']);

const isPresence = (condition: SelectorNode): boolean =>
  condition.kind === 'condition' && condition.operator === '$exists' && condition.value === true;

/** All fields that the selector names, those below `$elemMatch` and its like excepted. */
export function allFields(node: SelectorNode): ReadonlySet<string> {
  switch (node.kind) {
    case 'field':
      return new Set([node.field]);
    case 'and':
    case 'or':
    case 'nor':
      return new Set(node.args.flatMap((arg) => [...allFields(arg)]));
    case 'not':
      return allFields(node.arg);
    case 'everything':
    case 'parts':
    case 'condition':
    case 'text':
      return none;
  }
}
