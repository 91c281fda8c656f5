import type { Core } from './core.js';

export type UserFunction = (...list: unknown[]) => unknown;
export type Compile = (source: unknown) => UserFunction;

/** Makes functions of their sources. What is wrong with one is thrown as `['error', name, reason]`. */
export function makeCompile({ apply, evaluate, describe, isFunction, stringify }: Core): Compile {
  const { trim, indexOf, slice } = String.prototype;
  const notAFunction = 'Expression does not eval to a function.';

  /** Where functions without a name begin, as far as they are tried. */
  const placesMax = 16;
  const anonymousFunctions = (source: string): number[] => {
    const places: number[] = [];
    for (let at = -1; places.length < placesMax;) {
      at = apply(indexOf, source, ['function', at + 1]) as number;
      if (at < 0) break;
      if (apply(trim, apply(slice, source, [at + 8, at + 40]), [])[0] === '(') places[places.length] = at;
    }
    return places;
  };

  /**
   * The function that a program ends with: helpers may be declared before it, and as in CouchDB it needs no name. Each
   * program has a scope of its own, so that those of other functions stay theirs.
   */
  const lastOfProgram = (source: string): UserFunction | undefined => {
    const places = anonymousFunctions(source);
    for (let i = -1; i < places.length; i++) {
      const before = i < 0 ? source : apply(slice, source, [0, places[i]!]);
      const text = i < 0 ? source : before + ';0,' + apply(slice, source, [places[i]!]);
      try {
        const value = evaluate('(function () { return eval(' + stringify(text) + '); })()');
        if (isFunction(value)) return value;
      } catch {
        // No program in this form.
      }
    }
    return undefined;
  };

  return (source) => {
    if (source === '' || source === null || source === undefined)
      throw ['error', 'not_found', 'missing function'];
    if (typeof source !== 'string') throw ['error', 'compilation_error', notAFunction];
    if (apply(trim, source, []) === '')
      throw ['error', 'compilation_error', notAFunction + ' (' + source + ')'];
    let value: unknown;
    try {
      // As the end of an expression, a function needs no name, may have one, and may be followed by semicolons and
      // comments, all of which people write.
      value = evaluate('0,' + source);
    } catch (error) {
      const last = lastOfProgram(source);
      if (last !== undefined) return last;
      throw ['error', 'compilation_error', describe(error) + ' (' + source + ')'];
    }
    if (isFunction(value)) return value;
    const what =
      typeof value === 'function'
        ? 'Asynchronous functions and generators cannot be used here.'
        : notAFunction;
    throw ['error', 'compilation_error', what + ' (' + source + ')'];
  };
}
