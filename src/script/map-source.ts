import type {
  AnyNode,
  CallExpression,
  ForInStatement,
  ForOfStatement,
  Function as FunctionNode,
  MemberExpression,
  NewExpression,
  parse,
  Pattern,
} from 'acorn';
import { toBytes, type Bytes } from '../base/bytes.js';

/**
 * What the source of a map function tells of its use of documents.
 *
 * A document can be reached by the function's parameter, and by ways that don't name it: `arguments`, `eval`, `with`, or a
 * method or accessor that something has added to all objects, whose `this` it is. So the parameter counts only where the
 * source is made of constructs on a list from which none of these can be built. Everything else is not understood.
 */
export interface MapSource {
  /** The members of the document that the function can look at; undefined for all. */
  members: ReadonlySet<Bytes> | undefined;
  /** Whether it leaves the document as it is. */
  readsOnly: boolean;
}

/** What the function may do is not known: with the document, or with what all objects share. */
class NotUnderstood extends Error {}

/** Longer ones are not worth the time: the parser looks through all earlier names for each declaration. */
const sourceLengthMax = 32_000;

/** The parser, which is loaded only where it is needed. */
export type Parse = typeof parse;

/** Reads a source; undefined where it is not understood. */
export function readMapSource(parse: Parse, source: string): MapSource | undefined {
  // Comments of HTML are read by some engines and not by others.
  if (source.length > sourceLengthMax || source.includes('<!--') || source.includes('-->')) return undefined;
  try {
    // As it is compiled (`inside/compile.ts`).
    const { body } = parse(`0,${source}`, { ecmaVersion: 2023, sourceType: 'script' });
    const [first, ...rest] = body;
    if (rest.some(({ type }) => type !== 'EmptyStatement')) return undefined;
    if (first?.type !== 'ExpressionStatement' || first.expression.type !== 'SequenceExpression')
      return undefined;
    const [, map, ...more] = first.expression.expressions;
    if (more.length > 0) return undefined;
    if (map?.type !== 'FunctionExpression' && map?.type !== 'ArrowFunctionExpression') return undefined;
    const [parameter, ...others] = map.params;
    if (parameter?.type !== 'Identifier' || others.length > 0) return undefined;
    return new SourceReader(parameter.name).read(map);
  } catch {
    // Not understood, no JavaScript for this parser, or nested too deep for it.
    return undefined;
  }
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Global names that give away nothing. `Object` is only understood with some of its functions. */
const globalNames = names(
  'emit index log sum isArray toJSON undefined NaN Infinity parseInt parseFloat isNaN isFinite encodeURIComponent ' +
    'decodeURIComponent encodeURI decodeURI escape unescape Math JSON String Number Boolean Array Date RegExp Set Map ' +
    'Error TypeError RangeError',
);
const objectFunctions = names('keys values entries fromEntries hasOwn is assign freeze');

/** Ways to what all objects share, to code made of text, or to the arguments of a call. */
const unsafeNames = names(
  'arguments eval Function Object Reflect Proxy Symbol globalThis require prototype constructor caller callee ' +
    'defineProperty defineProperties setPrototypeOf getPrototypeOf getOwnPropertyDescriptor ' +
    'getOwnPropertyDescriptors __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__',
);

/** Functions that change what they are called on or given, or call others that might. */
const changingFunctions = names(
  'push pop shift unshift splice sort reverse fill copyWithin set add call apply bind assign freeze',
);

/** Members that all objects have, and that give away the object itself. */
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype));

/** What is as harmless as its parts. */
const plainNodes = names(
  'BlockStatement EmptyStatement ExpressionStatement IfStatement ReturnStatement SwitchStatement SwitchCase ' +
    'ThrowStatement TryStatement WhileStatement DoWhileStatement ForStatement VariableDeclaration ArrayExpression ' +
    'BinaryExpression LogicalExpression ConditionalExpression SequenceExpression ObjectExpression SpreadElement ' +
    'TemplateLiteral TemplateElement ChainExpression',
);

type Visitors = { [Type in AnyNode['type']]?: (node: Extract<AnyNode, { type: Type }>) => void };

/** Goes through the parts of a function. Names are taken for the same wherever they stand, whatever scope they are of. */
class SourceReader {
  #members: Set<Bytes> | undefined = new Set();
  #readsOnly = true;
  /** Names that stand for functions of the source, and for anything else. */
  readonly #functions = new Set<string>();
  readonly #variables = new Set<string>();
  readonly #mentioned = new Set<string>();
  readonly #called = new Set<string>();

  constructor(private readonly parameter: string) {}

  read({ id, body, async, generator }: FunctionNode): MapSource {
    if (async || generator) throw new NotUnderstood();
    if (id) this.#functions.add(id.name);
    this.#visit(body);
    for (const name of this.#mentioned) {
      if (!this.#functions.has(name) && !this.#variables.has(name) && !globalNames.has(name))
        throw new NotUnderstood();
    }
    // A variable may hold anything, such as a method that was looked up by a computed name.
    for (const name of this.#called) if (this.#variables.has(name)) throw new NotUnderstood();
    return { members: this.#members, readsOnly: this.#readsOnly };
  }

  #visit(node: AnyNode): void {
    const visitor = this.#visitors[node.type] as ((node: AnyNode) => void) | undefined;
    if (visitor !== undefined) return visitor(node);
    if (!plainNodes.has(node.type)) throw new NotUnderstood();
    for (const part of partsOf(node)) this.#visit(part);
  }

  readonly #visitors: Visitors = {
    Identifier: ({ name }) => this.#mention(name),
    Literal: ({ value }) => {
      if (typeof value === 'string' && unsafeNames.has(value)) throw new NotUnderstood();
    },
    MemberExpression: (node) => this.#member(node, false),
    CallExpression: (node) => this.#call(node),
    NewExpression: (node) => this.#call(node),
    UnaryExpression: ({ operator, argument }) => {
      if (operator === 'delete') this.#readsOnly = false;
      this.#visit(argument);
    },
    UpdateExpression: ({ argument }) => this.#assign(argument, undefined),
    AssignmentExpression: ({ left, operator, right }) => {
      this.#assign(left, operator === '=' ? right : undefined);
      this.#visit(right);
    },
    VariableDeclarator: ({ id, init }) => this.#declare(id, init ?? undefined),
    FunctionDeclaration: (node) => this.#function(node),
    FunctionExpression: (node) => this.#function(node),
    ArrowFunctionExpression: (node) => this.#function(node),
    ForInStatement: (node) => this.#loop(node),
    ForOfStatement: (node) => this.#loop(node),
    CatchClause: ({ param, body }) => {
      if (param) this.#bind(param);
      this.#visit(body);
    },
    Property: ({ kind, key, computed, value }) => {
      if (kind !== 'init') throw new NotUnderstood();
      this.#key(key, computed);
      this.#visit(value);
    },
    LabeledStatement: ({ body }) => this.#visit(body),
    BreakStatement: () => {},
    ContinueStatement: () => {},
  };

  #mention(name: string): void {
    if (unsafeNames.has(name)) throw new NotUnderstood();
    if (name === this.parameter) this.#members = undefined;
    else this.#mentioned.add(name);
  }

  #name(name: string, value: AnyNode | undefined): void {
    this.#mention(name);
    const isFunction = value?.type === 'FunctionExpression' || value?.type === 'ArrowFunctionExpression';
    (isFunction ? this.#functions : this.#variables).add(name);
  }

  #member({ object, property, computed }: MemberExpression, called: boolean): void {
    const key = this.#key(property, computed);
    if (key === undefined && called) throw new NotUnderstood();
    if (key !== undefined && changingFunctions.has(key)) this.#readsOnly = false;
    if (object.type !== 'Identifier') return this.#visit(object);
    if (object.name === 'Object') {
      if (key === undefined || !objectFunctions.has(key)) throw new NotUnderstood();
    } else if (object.name === this.parameter) this.#look(called ? undefined : key);
    else this.#mention(object.name);
  }

  /** A member of the document is looked at; undefined for any. */
  #look(key: string | undefined): void {
    if (key === undefined || inherited.has(key)) this.#members = undefined;
    else this.#members?.add(toBytes(key));
  }

  /** The name of a member, where the source tells it. */
  #key(key: AnyNode, computed: boolean): string | undefined {
    let name: string | undefined;
    if (key.type === 'Identifier' && !computed) name = key.name;
    else if (key.type === 'Literal' && (typeof key.value === 'string' || typeof key.value === 'number'))
      name = String(key.value);
    else if (computed) this.#visit(key);
    else throw new NotUnderstood();
    if (name !== undefined && unsafeNames.has(name)) throw new NotUnderstood();
    return name;
  }

  #call({ callee, arguments: given }: CallExpression | NewExpression): void {
    this.#callee(callee);
    for (const each of given) this.#visit(each);
  }

  #callee(callee: AnyNode): void {
    if (callee.type === 'MemberExpression') return this.#member(callee, true);
    if (callee.type === 'Identifier') {
      this.#called.add(callee.name);
      return this.#mention(callee.name);
    }
    if (callee.type !== 'FunctionExpression' && callee.type !== 'ArrowFunctionExpression')
      throw new NotUnderstood();
    this.#function(callee);
  }

  #function({ id, params, body, async, generator }: FunctionNode): void {
    if (async || generator) throw new NotUnderstood();
    if (id) {
      this.#mention(id.name);
      this.#functions.add(id.name);
    }
    for (const param of params) this.#bind(param);
    this.#visit(body);
  }

  #loop({ left, right, body }: ForInStatement | ForOfStatement): void {
    if (left.type === 'VariableDeclaration') for (const { id } of left.declarations) this.#bind(id);
    else this.#assign(left, undefined);
    this.#visit(right);
    this.#visit(body);
  }

  #assign(target: AnyNode, value: AnyNode | undefined): void {
    if (target.type === 'Identifier') return this.#name(target.name, value);
    this.#readsOnly = false;
    if (target.type === 'MemberExpression') this.#member(target, false);
    else this.#bind(target as Pattern);
  }

  #declare(target: Pattern, value: AnyNode | undefined): void {
    const isDocument = value?.type === 'Identifier' && value.name === this.parameter;
    if (target.type === 'Identifier') this.#name(target.name, value);
    else this.#bind(target, isDocument);
    // Of a document that is taken apart, the members with names in the pattern are looked at.
    if (value !== undefined && !(isDocument && target.type === 'ObjectPattern')) this.#visit(value);
  }

  /** Names in a pattern become variables. */
  #bind(pattern: Pattern, ofDocument = false): void {
    switch (pattern.type) {
      case 'Identifier':
        return this.#name(pattern.name, undefined);
      case 'MemberExpression':
        return this.#member(pattern, false);
      case 'RestElement':
        return this.#bind(pattern.argument);
      case 'AssignmentPattern':
        this.#bind(pattern.left);
        return this.#visit(pattern.right);
      case 'ArrayPattern':
        for (const element of pattern.elements) if (element) this.#bind(element);
        return;
      case 'ObjectPattern':
        for (const property of pattern.properties) {
          const key = property.type === 'Property' ? this.#key(property.key, property.computed) : undefined;
          if (ofDocument) this.#look(key);
          this.#bind(property.type === 'Property' ? property.value : property.argument);
        }
    }
  }
}

function* partsOf(node: AnyNode): Generator<AnyNode> {
  for (const value of Object.values(node) as unknown[]) {
    for (const part of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof part === 'object' && part !== null && 'type' in part) yield part as AnyNode;
  }
}
