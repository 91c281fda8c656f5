import type { Core } from './core.js';

export type Require = (path: unknown) => unknown;

/** The names on the way from the root to what `path` means for a module in the folder `from`. */
export type Resolve = (path: string, from: string[]) => string[];

export function makeResolve({ apply }: Core): Resolve {
  const { split } = String.prototype;
  const { slice } = Array.prototype;
  return (path, from) => {
    const names = apply(split, path, ['/']) as string[];
    const relative = names[0] === '.' || names[0] === '..';
    const way = relative ? (apply(slice, from, [0]) as string[]) : [];
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      if (name === '..') {
        if (way.length === 0)
          throw { error: 'invalid_require_path', reason: `${path} leads out of the design document.` };
        way.length--;
      } else if (name !== '.' && name !== '') way[way.length] = name;
    }
    return way;
  };
}

/**
 * CommonJS modules that are members of a design document: `require('lib/math')` is the text at `lib.math`. Paths begin at
 * the root, or with `./` or `../` at the module that asks.
 */
export function makeModules(
  { apply, evaluate, describe, ownMember, note }: Core,
  resolve: Resolve,
): (root: unknown) => Require {
  const { join, slice } = Array.prototype;

  const refuse = (reason: string): never => {
    throw { error: 'invalid_require_path', reason };
  };

  return (root) => {
    const loaded: Record<string, { id: string; exports: unknown }> = { __proto__: null } as never;

    const requireFrom =
      (from: string[]): Require =>
      (path) => {
        if (typeof path !== 'string') return refuse('The name of a module must be a string.');
        const way = resolve(path, from);
        const id = apply(join, way, ['/']) as string;
        const known = loaded[id];
        if (known !== undefined) return known.exports;
        let source = root;
        for (let i = 0; i < way.length; i++) source = ownMember(source, way[i]!);
        if (typeof source !== 'string') return refuse(`There is no module ${id}.`);
        return load(id, source, apply(slice, way, [0, -1]) as string[]);
      };

    const load = (id: string, source: string, folder: string[]): unknown => {
      let run: unknown;
      try {
        run = evaluate('(function (module, exports, require) { ' + source + '\n})');
      } catch (error) {
        throw ['error', 'compilation_error', `Module ${id}: ${describe(error)}`];
      }
      const module = { id, exports: {} as unknown };
      // Modules that need each other in a circle see what is there so far.
      loaded[id] = module;
      try {
        apply(run as () => void, module.exports, [module, module.exports, requireFrom(folder)]);
      } catch (error) {
        delete loaded[id];
        note(`The module ${id} failed: ${describe(error)}`);
        throw error;
      }
      return module.exports;
    };

    return requireFrom([]);
  };
}
