import ts from 'typescript';
import { walk, type Module, type TextFile } from './source-files.js';

export const fileLinesMax = 300;
export const functionLinesMax = 60;

export function longFiles(files: readonly TextFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1;
    return lines > fileLinesMax ? [`${path}: ${lines} lines`] : [];
  });
}

/** Functions and methods from their first word to their last brace; comments above them don't count. */
export function longFunctions(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, syntax }) => {
    const lineAt = (position: number): number => syntax.getLineAndCharacterOfPosition(position).line;
    return [...walk(syntax)].filter(isFunction).flatMap((node) => {
      const first = lineAt(node.getStart(syntax));
      const lines = lineAt(node.end) - first + 1;
      return lines > functionLinesMax ? [`${path}:${first + 1}: a function of ${lines} lines`] : [];
    });
  });
}

const isFunction = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;

export function oddNames(paths: readonly string[]): string[] {
  return paths.filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+$/.test(path.split('/').at(-1)!));
}

/**
 * Exports that no other file imports. A type that another export of the same file mentions is a part of that export's
 * signature, and so is in use.
 */
export function deadExports(modules: readonly Module[]): string[] {
  const used = new Set<string>();
  for (const { imports } of modules) {
    for (const { from, names } of imports) for (const name of names) used.add(`${from}: ${name}`);
  }
  return modules.flatMap(({ path, exports }) =>
    exports
      .filter(({ name }) => !used.has(`${path}: ${name}`) && !used.has(`${path}: *`))
      .filter(
        ({ name, isType, node }) =>
          !isType || !exports.some((other) => other.node !== node && mentions(other.node, name)),
      )
      .map(({ name }) => `${path}: ${name}`),
  );
}

function mentions(node: ts.Node, name: string): boolean {
  return [...walk(node)].some((each) => ts.isIdentifier(each) && each.text === name);
}

/** A reason follows the word and a colon. */
export function unexplainedTodos(files: readonly TextFile[]): string[] {
  return linesWith(files, /\b(?:TODO|FIXME|XXX)\b(?!: \S+ \S+ \S+)/);
}

export function consoleCalls(files: readonly TextFile[]): string[] {
  return linesWith(files, /\bconsole\.\w/);
}

/** What tells of the place where the code was written, and of nothing that a reader could look up. */
const workplaceWords = [
  '/work/',
  '/workspace/',
  'DESIGN.md',
  'SPEC.md',
  'STYLE.md',
  'subagent',
  'sub-agent',
  'language model',
  'AI-generated',
  'ChatGPT',
  'prompt engineering',
];

export function workplaceTraces(files: readonly TextFile[]): string[] {
  const pattern = new RegExp(
    workplaceWords.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'),
    'i',
  );
  return linesWith(files, pattern);
}

function linesWith(files: readonly TextFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  );
}
