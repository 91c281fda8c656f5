/**
 * Everything in this folder runs inside the sandbox, among the user's functions: its *text* is what is used
 * (`program.ts` puts it together). So each exported function stands for itself; it imports nothing but types, and has
 * nothing of this side in reach.
 *
 * User functions may change whatever is reachable from the global object, prototypes included. What is needed later is
 * therefore taken hold of before any of them runs, and called without asking a prototype.
 */
export interface Core {
  parse: typeof JSON.parse;
  /** As JSON.stringify, but what JSON doesn't have is null. */
  stringify: (value: unknown) => string;
  isArray: typeof Array.isArray;
  apply: typeof Reflect.apply;
  /** Runs a program in the global scope, in sloppy mode. */
  evaluate: (program: string) => unknown;
  /** Whether it is a function as they have always been: neither asynchronous nor a generator. */
  isFunction: (value: unknown) => value is (...list: unknown[]) => unknown;
  ownMember: (value: unknown, name: string) => unknown;
  /** An array without a prototype, so that user code cannot change how it is filled or serialized. */
  newList: () => unknown[];
  /** Whether this exception says that memory is exhausted. Sometimes there is not even enough left to build its message. */
  isExhausted: (thrown: unknown) => boolean;
  /** An exception in words. */
  describe: (thrown: unknown) => string;
  /** Keeps a message for the log of the server. */
  note: (message: unknown) => void;
  /** The messages since the last call, as JSON. */
  takeNotes: () => string;
}

/** `hasRoom` gives something while there is memory to be had. */
export function makeCore(hasRoom: () => string | undefined): Core {
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { apply, getPrototypeOf, setPrototypeOf, getOwnPropertyDescriptor } = Reflect;
  const evaluate = eval;
  const plainFunction = getPrototypeOf(() => {});
  const errorPrototype = Error.prototype;
  const { isPrototypeOf } = Object.prototype;
  const { slice } = String.prototype;
  const notesMax = 100;
  const noteLengthMax = 2_000;
  const newList = (): unknown[] => {
    const list: unknown[] = [];
    setPrototypeOf(list, null);
    return list;
  };
  let notes = newList();
  let count = 0;

  const isError = (value: unknown): value is Error => apply(isPrototypeOf, errorPrototype, [value]);
  return {
    parse,
    stringify: (value) => stringify(value) ?? 'null',
    isArray,
    newList,
    apply,
    evaluate,
    isFunction: (value): value is (...list: unknown[]) => unknown =>
      typeof value === 'function' && getPrototypeOf(value) === plainFunction,
    ownMember: (value, name) =>
      typeof value === 'object' && value !== null ? getOwnPropertyDescriptor(value, name)?.value : undefined,
    isExhausted: (thrown) =>
      // The engine throws null where it has no memory for an error; a function may do so for fun.
      (thrown === null && hasRoom() === undefined) ||
      (isError(thrown) && thrown.name === 'InternalError' && thrown.message === 'out of memory'),
    describe: (thrown) => {
      try {
        return typeof thrown === 'object' && !isError(thrown) ? stringify(thrown) : '' + thrown;
      } catch {
        return 'an exception that cannot be shown';
      }
    },
    note: (message) => {
      if (count >= notesMax) return;
      notes[count++] = typeof message === 'string' ? apply(slice, message, [0, noteLengthMax]) : message;
    },
    takeNotes: () => {
      if (count === 0) return '[]';
      const text = stringify(notes);
      notes = newList();
      count = 0;
      return text;
    },
  };
}
