import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** A file of the repository, by its path from the root, with slashes. */
export interface TextFile {
  path: string;
  text: string;
}

/** What one TypeScript file takes from others and gives to them. */
export interface Module extends TextFile {
  syntax: ts.SourceFile;
  imports: Import[];
  exports: Export[];
}

export interface Import {
  /** The path of the imported file; undefined for packages. */
  from: string | undefined;
  /** The imported names; `*` stands for all of them. */
  names: string[];
  /** `export … from`. */
  reexport: boolean;
}

export interface Export {
  name: string;
  /** Whether it is an interface or a type alias. */
  isType: boolean;
  node: ts.Node;
}

/** The files below the given folders whose names end as asked for. */
export function readFiles(folders: readonly string[], endings: readonly string[]): TextFile[] {
  return folders
    .flatMap((folder) =>
      fs
        .readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
        .map((entry) => path.join(entry.parentPath, entry.name).split(path.sep).join('/')),
    )
    .sort()
    .map((file) => ({ path: file, text: fs.readFileSync(file, 'utf8') }));
}

export function readModule({ path: file, text }: TextFile): Module {
  const syntax = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const module: Module = { path: file, text, syntax, imports: [], exports: [] };
  for (const statement of syntax.statements) {
    if (ts.isImportDeclaration(statement)) module.imports.push(importOf(file, statement));
    else if (ts.isExportDeclaration(statement)) readExportList(module, statement);
    else if (isExported(statement)) module.exports.push(...declaredNames(statement));
  }
  if (text.includes('import(')) module.imports.push(...laterImports(file, syntax));
  return module;
}

/** Modules that are loaded when they are needed: `(await import('…')).name` and `const { name } = await import('…')`. */
function laterImports(file: string, syntax: ts.SourceFile): Import[] {
  const found: Import[] = [];
  for (const node of walk(syntax)) {
    if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) continue;
    const from = resolve(file, node.arguments[0]!);
    let user: ts.Node = node.parent;
    while (ts.isAwaitExpression(user) || ts.isParenthesizedExpression(user)) user = user.parent;
    const names = ts.isPropertyAccessExpression(user)
      ? [user.name.text]
      : ts.isVariableDeclaration(user) && ts.isObjectBindingPattern(user.name)
        ? user.name.elements.map(({ propertyName, name }) => (propertyName ?? name).getText())
        : ['*'];
    found.push({ from, names, reexport: false });
  }
  return found;
}

/** Every node of a tree, the root included. */
export function* walk(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* walk(child);
}

function importOf(file: string, { importClause, moduleSpecifier }: ts.ImportDeclaration): Import {
  const names: string[] = [];
  if (importClause?.name) names.push('default');
  const bindings = importClause?.namedBindings;
  if (bindings && ts.isNamespaceImport(bindings)) names.push('*');
  if (bindings && ts.isNamedImports(bindings)) names.push(...bindings.elements.map(originalName));
  return { from: resolve(file, moduleSpecifier), names, reexport: false };
}

function readExportList(module: Module, statement: ts.ExportDeclaration): void {
  const { exportClause, moduleSpecifier } = statement;
  const elements = exportClause && ts.isNamedExports(exportClause) ? [...exportClause.elements] : [];
  const isType = statement.isTypeOnly;
  module.exports.push(...elements.map((node) => ({ name: node.name.text, isType, node })));
  if (moduleSpecifier === undefined) return;
  const names = exportClause === undefined ? ['*'] : elements.map(originalName);
  module.imports.push({ from: resolve(module.path, moduleSpecifier), names, reexport: true });
}

const originalName = ({ propertyName, name }: ts.ImportOrExportSpecifier): string =>
  (propertyName ?? name).text;

function resolve(file: string, specifier: ts.Expression): string | undefined {
  const text = ts.isStringLiteral(specifier) ? specifier.text : '';
  if (!text.startsWith('.')) return undefined;
  return path.posix.join(path.posix.dirname(file), text).replace(/\.js$/, '.ts');
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  );
}

function declaredNames(statement: ts.Statement): Export[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((node) => ({
      name: node.name.getText(),
      isType: false,
      node,
    }));
  }
  const { name } = statement as ts.DeclarationStatement;
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
  return [{ name: name?.getText() ?? 'default', isType, node: statement }];
}
