import type { Core } from './core.js';

export type UserFunction = (...list: unknown[]) => unknown;
export type Compile = (source: unknown) => UserFunction;

/** Makes functions of their sources. What is wrong with one is thrown as `['error', name, reason]`. */
export function makeCompile({ apply, evaluate, describe, isFunction }: Core): Compile {
  const { trim } = String.prototype;
  const notAFunction = 'Expression does not eval to a function.';
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
