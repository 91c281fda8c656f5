import type { Compile, UserFunction } from './compile.js';
import type { Core } from './core.js';

export interface Reducer {
  /** Takes the function's source, as JSON. */
  load: (source: string) => void;
  /** Groups are `[keys,values]`, as JSON. Each gives a line: a value, or `!` and `[error,reason]`. */
  run: (groups: string, options: string) => string;
}

export interface ReduceOptions {
  rereduce: boolean;
  /** The size of each group's text, where results that are hardly smaller are not accepted. */
  sizes: number[] | null;
  /** They are accepted all the same, but the log tells. */
  onlyLog: boolean;
}

export function makeReducer(core: Core, compile: Compile, tick: () => void): Reducer {
  const { parse, stringify, isArray, isExhausted, describe, note } = core;
  const smallMax = 4_096;
  let reduce: UserFunction;

  const valueOf = (keys: unknown, values: unknown, rereduce: boolean): string => {
    try {
      return stringify(reduce(keys, values, rereduce));
    } catch (thrown) {
      if (isExhausted(thrown)) throw thrown;
      if (isArray(thrown) && thrown[0] === 'fatal') throw thrown;
      note(`A reduce function threw ${describe(thrown)}; its value is null.`);
      return 'null';
    }
  };

  const checked = (text: string, size: number, onlyLog: boolean): string => {
    if (text.length <= smallMax || text.length * 2 <= size) return text;
    const reason = `A reduce function has to make less of what it is given: it made ${text.length} bytes of ${size}.`;
    if (!onlyLog) return '!' + stringify(['reduce_overflow_error', reason]);
    note(reason);
    return text;
  };

  return {
    load: (source) => {
      reduce = compile(parse(source));
    },
    run: (groups, options) => {
      const list = parse(groups) as [unknown, unknown][];
      const { rereduce, sizes, onlyLog } = parse(options) as ReduceOptions;
      let lines = '';
      for (let i = 0; i < list.length; i++) {
        tick();
        const text = valueOf(list[i]![0], list[i]![1], rereduce);
        lines += (sizes === null ? text : checked(text, sizes[i]!, onlyLog)) + '\n';
      }
      return lines;
    },
  };
}
