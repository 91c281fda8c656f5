import ts from 'typescript';
import { walk, type Module } from './source-files.js';

/** What a server must get from its `Runtime`: a simulation could not replay what comes from elsewhere. */
const ofTheMachine: ReadonlySet<string> = new Set([
  'Date.now',
  'Math.random',
  'new Date()',
  'performance.now',
  'performance.timeOrigin',
  'process.hrtime',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);
const randomSources = /^(?:random\w+|getRandomValues|webcrypto)$/;
const clockModules = /^(?:node:)?(?:timers(?:\/promises)?|perf_hooks)$/;

/** Uses of clocks, timers and random numbers of the process, as `path: name`. */
export function machineUses(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, syntax }) => {
    const names = [...walk(syntax)].flatMap((node) => machineUse(node) ?? []);
    return [...new Set(names)].map((name) => `${path}: ${name}`);
  });
}

function machineUse(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node)) return importedSource(node);
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date')
    return node.arguments?.length ? undefined : 'new Date()';
  if (ts.isPropertyAccessExpression(node)) {
    const name = node.getText().replace(/^globalThis\./, '');
    return ofTheMachine.has(name) || /^(?:crypto|webcrypto)\.(?:random|getRandom)/.test(name)
      ? name
      : undefined;
  }
  if (!ts.isIdentifier(node) || !ofTheMachine.has(node.text)) return undefined;
  // A method of the same name, such as that of a socket, is another thing.
  const { parent } = node;
  const isMember = ts.isImportSpecifier(parent) || ('name' in parent && parent.name === node);
  return isMember ? undefined : node.text;
}

function importedSource({ importClause, moduleSpecifier }: ts.ImportDeclaration): string | undefined {
  const from = (moduleSpecifier as ts.StringLiteral).text;
  if (clockModules.test(from)) return from;
  const bindings = importClause?.namedBindings;
  if (!/^(?:node:)?crypto$/.test(from) || bindings === undefined || !ts.isNamedImports(bindings))
    return undefined;
  return bindings.elements
    .map(({ name, propertyName }) => (propertyName ?? name).text)
    .find((name) => randomSources.test(name));
}

/** Methods that change what they are called on: those of maps, sets, arrays and buffers. */
const changes =
  /^(?:set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin|write\w*)$/;
/** Only patterns with these flags remember where they stopped. */
const stateful = /^(?:,\s*')?[dimsuv]*[gy][dgimsuvy]*(?:'\))?$/;
/** Classes whose instances do not change; a constant may hold one of them. */
const immutable: ReadonlySet<string> = new Set([
  'CharSet',
  'Intl.Collator',
  'Intl.Segmenter',
  'Map',
  'MemberPicker',
  'Query',
  'RegExp',
  'RequestError',
  'RouteTable',
  'Set',
  'URL',
]);

/**
 * Variables of modules that functions change, and objects of modules that can change, as `path: name`. What the
 * statements of the module itself do once, when it is loaded, is how a constant is made.
 */
export function moduleState(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, syntax }) => {
    const variables = new Map(topLevelVariables(syntax));
    const states = new Set(
      [...variables].filter(([, made]) => isObjectThatChanges(made)).map(([name]) => name),
    );
    for (const node of walk(syntax)) {
      const name = changedVariable(node) ?? advancedPattern(node, variables);
      if (name === undefined || !variables.has(name.text) || states.has(name.text)) continue;
      if (isInFunction(node) && !isShadowed(name)) states.add(name.text);
    }
    return [...states, ...staticFields(syntax)].map((name) => `${path}: ${name}`);
  });
}

function* topLevelVariables(syntax: ts.SourceFile): Generator<[string, ts.Expression | undefined]> {
  for (const statement of syntax.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(name)) yield [name.text, initializer];
  }
}

/** Fields of classes themselves, as `Class.name`. */
function staticFields(syntax: ts.SourceFile): string[] {
  return syntax.statements.filter(ts.isClassDeclaration).flatMap(({ name, members }) =>
    members
      .filter(ts.isPropertyDeclaration)
      .filter((member) => isStatic(member) && !isReadonly(member))
      .map((member) => `${name?.text ?? 'default'}.${member.name.getText()}`),
  );
}

const isStatic = (member: ts.PropertyDeclaration): boolean =>
  hasModifier(member, ts.SyntaxKind.StaticKeyword);
const isReadonly = (member: ts.PropertyDeclaration): boolean =>
  hasModifier(member, ts.SyntaxKind.ReadonlyKeyword);
const hasModifier = (member: ts.PropertyDeclaration, wanted: ts.SyntaxKind): boolean =>
  (ts.getModifiers(member) ?? []).some(({ kind }) => kind === wanted);

/** An instance of a class of which it is not known that its instances stay as they are. */
function isObjectThatChanges(made: ts.Expression | undefined): boolean {
  if (made === undefined || !ts.isNewExpression(made)) return false;
  const name = made.expression.getText();
  return !immutable.has(name) && !/^(?:\w+Array|DataView|Error)$/.test(name);
}

/** The variable that a node assigns to, changes a member of, or calls a changing method of. */
function changedVariable(node: ts.Node): ts.Identifier | undefined {
  let target: ts.Expression | undefined;
  if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) target = node.left;
  else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
    const { PlusPlusToken, MinusMinusToken } = ts.SyntaxKind;
    if (node.operator === PlusPlusToken || node.operator === MinusMinusToken) target = node.operand;
  } else if (ts.isDeleteExpression(node)) target = node.expression;
  else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
    if (changes.test(node.expression.name.text)) target = node.expression.expression;
  return target && rootOf(target);
}

/** The pattern that a search moves on. */
function advancedPattern(
  node: ts.Node,
  variables: ReadonlyMap<string, ts.Expression | undefined>,
): ts.Identifier | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression } = node.expression;
  if (!/^(?:exec|test)$/.test(name.text) || !ts.isIdentifier(expression)) return undefined;
  const made = variables.get(expression.text)?.getText() ?? '';
  const flags = made.startsWith('/')
    ? made.slice(made.lastIndexOf('/') + 1)
    : made.slice(made.lastIndexOf(','));
  return stateful.test(flags) ? expression : undefined;
}

const isAssignment = (kind: ts.SyntaxKind): boolean =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;

function rootOf(expression: ts.Expression): ts.Identifier | undefined {
  let root = expression;
  while (
    ts.isPropertyAccessExpression(root) ||
    ts.isElementAccessExpression(root) ||
    ts.isNonNullExpression(root) ||
    ts.isParenthesizedExpression(root)
  )
    root = root.expression;
  return ts.isIdentifier(root) ? root : undefined;
}

function isInFunction(node: ts.Node): boolean {
  for (let each = node.parent; each !== undefined; each = each.parent)
    if (ts.isFunctionLike(each) || ts.isClassLike(each)) return true;
  return false;
}

/** Whether a name means a parameter or a variable of a function around it. */
function isShadowed(name: ts.Identifier): boolean {
  for (let each: ts.Node = name.parent; !ts.isSourceFile(each); each = each.parent) {
    if (ts.isFunctionLike(each) && each.parameters.some((parameter) => binds(parameter.name, name.text)))
      return true;
    if (ts.isBlock(each) && each.statements.some((statement) => declares(statement, name.text))) return true;
    if (ts.isForStatement(each) || ts.isForOfStatement(each) || ts.isForInStatement(each))
      if (each.initializer && declares(each.initializer, name.text)) return true;
  }
  return false;
}

function declares(node: ts.Node, name: string): boolean {
  const list = ts.isVariableStatement(node) ? node.declarationList : node;
  return ts.isVariableDeclarationList(list) && list.declarations.some((each) => binds(each.name, name));
}

function binds(pattern: ts.BindingName, name: string): boolean {
  if (ts.isIdentifier(pattern)) return pattern.text === name;
  return pattern.elements.some((each) => ts.isBindingElement(each) && binds(each.name, name));
}
