import type { Module } from './source-files.js';

/**
 * The folders of `src`, from the top down. A file imports from its own folder and from rows below it; `main` starts
 * what `server` wires, so each has a row. `docs/architecture.md` shows the same rows, and a test compares them.
 */
export const layers: readonly (readonly string[])[] = [
  ['main'],
  ['operations', 'compare'],
  ['server'],
  ['workers'],
  ['http'],
  ['replication', 'auth'],
  ['query'],
  ['views', 'changes'],
  ['fulltext'],
  ['design'],
  ['documents'],
  ['cluster'],
  ['node'],
  ['indexes'],
  ['shard'],
  ['revisions', 'selectors', 'storage', 'script', 'log', 'config', 'search', 'blobs'],
  ['json'],
  ['base'],
];

/** Imports that go up or sideways, and folders that have no row. */
export function misplacedImports(modules: readonly Module[]): string[] {
  return modules.flatMap(({ path, imports }) => {
    const folder = folderOf(path);
    if (rowOf(folder) === undefined) return [`${path}: the folder ${folder} has no row`];
    return imports.flatMap(({ from }) => {
      if (from === undefined || !from.startsWith('src/'))
        return from === undefined ? [] : [`${path} -> ${from}`];
      const target = folderOf(from);
      const down = target === folder || rowOf(target)! > rowOf(folder)!;
      return down ? [] : [`${path} -> ${from}`];
    });
  });
}

/** `src/index.ts` stands above all folders. */
function folderOf(path: string): string {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1]! : 'main';
}

function rowOf(folder: string): number | undefined {
  const row = layers.findIndex((folders) => folders.includes(folder));
  return row < 0 ? undefined : row;
}

/** Circles of imports, each told once by the files on it. */
export function importCycles(modules: readonly Module[]): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const open: string[] = [];
  const cycles: string[] = [];
  const visit = (path: string): void => {
    const at = open.indexOf(path);
    if (at >= 0) cycles.push([...open.slice(at), path].join(' -> '));
    if (at >= 0 || done.has(path)) return;
    open.push(path);
    for (const { from } of byPath.get(path)?.imports ?? [])
      if (from !== undefined && byPath.has(from)) visit(from);
    open.pop();
    done.add(path);
  };
  for (const { path } of modules) visit(path);
  return cycles;
}

/** Files that only hand on what others export. */
export function barrels(modules: readonly Module[]): string[] {
  return modules
    .filter(
      ({ syntax, imports }) =>
        syntax.statements.length > 0 &&
        imports.filter(({ reexport }) => reexport).length === syntax.statements.length,
    )
    .map(({ path }) => path);
}
