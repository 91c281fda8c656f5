/**
 * A selector as CouchDB asks Lucene for it. Nothing is read by this here: `_explain` shows it, and the fields in it tell
 * whether a text index can serve a query, by CouchDB's rule.
 */
import { toBytes } from '../base/bytes.js';
import { defaultFieldName } from '../indexes/text-definition.js';
import { elementName } from '../search/value-terms.js';
import { parseField } from '../selectors/field-path.js';
import type { SelectorNode } from '../selectors/node.js';
import type { TextSorting } from './text-sort.js';

type LuceneNode =
  | { kind: 'and' | 'or'; args: LuceneNode[] }
  /** Documents that have a field, without those that another finds; undefined for all without the field. */
  | { kind: 'without'; field: LuceneNode; other: LuceneNode | undefined }
  /** `isNamed`: whether an index has to have the field. */
  | { kind: 'term'; field: string; query: string; isNamed: boolean }
  | { kind: 'name'; field: string; rest: string; isNamed: boolean };

/** Beyond this number parts of a selector are left out of what is shown. */
const nodesMax = 20_000;
/** The same for the characters of the fields' names, which stand with every value. */
const charactersMax = 1_000_000;
/** Beyond this number of parts an index of an array is taken for a name: each doubles what is nested in it. */
const alternativesMax = 200;
const lastText = 'u0x10FFFF';

class LuceneForm {
  #nodes = 0;
  #characters = 0;

  of(node: SelectorNode, path: string): LuceneNode {
    if (this.#isTooMuch(path)) return { kind: 'and', args: [] };
    switch (node.kind) {
      case 'and':
      case 'or':
        return { kind: node.kind, args: node.args.map((arg) => this.of(arg, path)) };
      case 'nor':
        return without(exists(path), { kind: 'or', args: node.args.map((arg) => this.of(arg, path)) });
      case 'not':
        return without(exists(path), this.of(node.arg, path));
      case 'field':
        return this.#field(node.field, node.condition, path);
      case 'parts':
        return node.operator === '$keyMapMatch' ? exists(path) : this.of(node.arg, join(path, elementName));
      case 'condition':
        return this.#condition(node.operator, node.value, path);
      case 'text':
        return { kind: 'term', field: defaultFieldName, query: quoted(node.text), isNamed: true };
      case 'everything':
        return { kind: 'and', args: [] };
    }
  }

  #isTooMuch(path: string): boolean {
    this.#characters += path.length;
    return ++this.#nodes > nodesMax || this.#characters > charactersMax;
  }

  /** An index of an array may also be a name. */
  #field(field: string, condition: SelectorNode, outer: string): LuceneNode {
    const names = field === '' ? [] : parseField(field).map((name) => name.replaceAll('.', '\\.'));
    const path = names.reduce(join, outer);
    if (!names.some(isInteger) || this.#nodes > alternativesMax) return this.of(condition, path);
    const inArrays = names.map((name) => (isInteger(name) ? elementName : name)).reduce(join, outer);
    return { kind: 'or', args: [this.of(condition, path), this.of(condition, inArrays)] };
  }

  #condition(operator: string, value: unknown, path: string): LuceneNode {
    switch (operator) {
      case '$eq':
        return this.#equal(value, path);
      case '$ne':
        return without(exists(path), this.#equal(value, path));
      case '$in':
        return this.#in(value as unknown[], path);
      case '$nin':
        return without(exists(path), this.#in(value as unknown[], path));
      case '$all':
        return this.#all(value as unknown[], path);
      case '$lt':
      case '$lte':
      case '$gt':
      case '$gte':
        return isScalar(value) ? term(path, value, range(operator, value)) : exists(path);
      case '$exists':
        return value === true ? exists(path) : { kind: 'without', field: exists(path), other: undefined };
      case '$beginsWith':
        return term(path, value, `${escaped(value as string)}*`);
      case '$mod':
        return { kind: 'name', field: `${path}:number`, rest: '', isNamed: false };
      case '$regex':
        return { kind: 'name', field: `${path}:string`, rest: '', isNamed: true };
      case '$size':
        return length(path, value as number);
      default:
        return exists(path);
    }
  }

  #equal(value: unknown, path: string): LuceneNode {
    if (this.#isTooMuch(path)) return { kind: 'and', args: [] };
    if (Array.isArray(value)) {
      const inside = join(path, elementName);
      return {
        kind: 'and',
        args: [length(path, value.length), ...value.map((each) => this.#equal(each, inside))],
      };
    }
    if (typeof value !== 'object' || value === null) return term(path, value, valueText(value));
    const members = Object.entries(value).map(([name, member]) =>
      this.#equal(member, join(path, name.replaceAll('.', '\\.'))),
    );
    return members.length === 1 ? members[0]! : { kind: 'and', args: members };
  }

  #in(values: readonly unknown[], path: string): LuceneNode {
    const inside = join(path, elementName);
    const args = values.map((value): LuceneNode => ({
      kind: 'or',
      args: [this.#equal(value, path), this.#equal(value, inside)],
    }));
    return { kind: 'or', args };
  }

  #all(values: readonly unknown[], path: string): LuceneNode {
    const inside = join(path, elementName);
    if (values.length === 1 && Array.isArray(values[0]))
      return { kind: 'or', args: [this.#equal(values[0], path), this.#equal(values[0], inside)] };
    return { kind: 'and', args: values.map((each) => this.#equal(each, inside)) };
  }
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const isInteger = (name: string): boolean => /^[+-]?\d+$/.test(name);
const isScalar = (value: unknown): boolean => value !== null && typeof value !== 'object';

const without = (field: LuceneNode, other: LuceneNode): LuceneNode => ({ kind: 'without', field, other });

const exists = (path: string): LuceneNode => ({
  kind: 'or',
  args: [
    { kind: 'name', field: `${path}:`, rest: '*', isNamed: false },
    { kind: 'name', field: path, rest: '.*', isNamed: false },
  ],
});

const term = (path: string, value: unknown, query: string): LuceneNode => {
  const type = value === null ? 'null' : typeof value;
  return { kind: 'term', field: `${path}:${type}`, query, isNamed: value !== null };
};

const length = (path: string, count: number): LuceneNode => ({
  kind: 'term',
  field: `${join(path, elementName)}:length`,
  query: String(count),
  isNamed: false,
});

function range(operator: string, value: unknown): string {
  const [least, most] = typeof value === 'number' ? ['*', '*'] : ['""', lastText];
  const text = valueText(value);
  if (operator === '$lt') return `[${least} TO ${text}}`;
  if (operator === '$lte') return `[${least} TO ${text}]`;
  return `${operator === '$gt' ? '{' : '['}${text} TO ${most}]`;
}

const valueText = (value: unknown): string =>
  typeof value === 'string' ? quoted(value) : value === null ? 'true' : String(value);
const isNumeric = (text: string): boolean => /^-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?[dDfF]?/.test(text);
const quoted = (text: string): string => `"${isNumeric(text) ? text : escaped(text)}"`;
const escaped = (text: string): string => text.replace(/&&|\|\||[+\-(){}[\]!^~*?:/\\" \t\r\n]/g, '\\$&');

/** As CouchDB names fields in Lucene. */
const fieldText = (field: string): string =>
  field
    .split(/(?<!\\)\./)
    .map((part) =>
      toBytes(part.replaceAll('\\', '').toWellFormed()).replace(
        /[^a-zA-Z0-9]/gs,
        (byte) => `_${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
      ),
    )
    .join('.');

function text(node: LuceneNode): string {
  switch (node.kind) {
    case 'and':
    case 'or': {
      const parts = node.args.map(text).filter((part) => part !== '');
      return parts.length === 0 ? '' : `(${parts.join(node.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'without': {
      if (node.other === undefined) return `($fieldnames:/.*/  AND NOT (${text(node.field)}))`;
      const other = text(node.other);
      return other === '' ? `(${text(node.field)})` : `(${text(node.field)} AND NOT (${other}))`;
    }
    case 'term':
      return `(${node.field === defaultFieldName ? node.field : fieldText(node.field)}:${node.query})`;
    case 'name':
      return `($fieldnames:${fieldText(node.field)}${node.rest})`;
  }
}

/** The query that `_explain` shows. */
export const luceneQuery = (selector: SelectorNode): string => text(new LuceneForm().of(selector, ''));

/** The order that `_explain` shows. */
export function luceneSort(sort: readonly TextSorting[]): string | string[] {
  if (sort.length === 0) return 'relevance';
  return sort.map(
    ({ field, type, descending }) => `${descending ? '-' : ''}${fieldText(`${field}:${type}`)}<${type}>`,
  );
}

/** The fields, with their types, that an index must have to serve a selector; `$default` for `$text`. */
export function textFields(selector: SelectorNode): string[] {
  const fields: string[] = [];
  addFields(new LuceneForm().of(selector, ''), fields);
  return [...new Set(fields)];
}

function addFields(node: LuceneNode, fields: string[]): void {
  switch (node.kind) {
    case 'and':
    case 'or': {
      const [first, second] = node.args;
      const isPair = node.kind === 'or' && node.args.length === 2 && first?.kind === 'term';
      // The other field of an array, which definitions of indexes don't name.
      const isOfArray = isPair && second?.kind === 'term' && second.field.includes(`${elementName}:`);
      for (const arg of isOfArray ? [first] : node.args) addFields(arg, fields);
      return;
    }
    case 'without':
      // CouchDB forgets the other fields here, and so takes the index.
      if (node.other === undefined) fields.length = 0;
      else addFields(node.other, fields);
      return;
    case 'term':
    case 'name':
      if (node.isNamed) fields.push(node.field);
  }
}
