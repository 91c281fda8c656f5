import type { Compile, UserFunction } from './compile.js';
import type { Core } from './core.js';
import type { Keep } from './keep.js';

export interface Mapper {
  /** Takes the sources of the functions to be run, as JSON. */
  load: (sources: string) => void;
  /**
   * Runs the functions `which` on documents, all of them JSON. For each function there is a line with the number of rows
   * of each document and a comma behind each, lines with rows as `[key,value,key,value,…]`, and an empty line. `alone`: there is one document,
   * and whatever fails is its own fault. `freeze`: the functions might try to change the documents.
   */
  run: (docs: string, which: string, alone: boolean, freeze: boolean) => string;
}

/** Takes note of an exception, or throws it on where it is not only the one document's affair. */
type MapFailed = (thrown: unknown, doc: number, which: number, alone: boolean) => void;

export function makeMapFailed({ isArray, isExhausted, describe, note }: Core): MapFailed {
  return (thrown, doc, which, alone) => {
    // Others' rows may have taken the memory.
    const exhausted = isExhausted(thrown);
    if (exhausted && !alone) throw thrown;
    if (thrown === 'fatal_error') throw ['fatal', 'map_runtime_error', "function raised 'fatal_error'"];
    if (isArray(thrown) && thrown[0] === 'fatal') throw thrown;
    note([doc, which, describe(thrown), exhausted]);
  };
}

/** Runs one map function on documents, and gives its lines. */
export interface MapRunner {
  emit: (key: unknown, value: unknown) => void;
  run: (map: UserFunction, which: number, docs: readonly unknown[], alone: boolean) => string;
}

export function makeMapRunner(
  { stringify, newList }: Core,
  keep: Keep,
  failed: MapFailed,
  tick: () => void,
): MapRunner {
  const waitingMax = 2_000;
  /** Keys and values that wait to be written: many at a time is far cheaper than each for itself. */
  let rows = newList();
  let count = 0;
  /** Whether among them are objects that a function might still change: those don't wait for the next document. */
  let loose = false;

  const kept = (value: unknown): unknown => {
    const safe = keep(value);
    if (safe === value && typeof value === 'object' && value !== null) loose = true;
    return safe;
  };

  return {
    emit: (key, value) => {
      const keyType = typeof key;
      const valueType = typeof value;
      const keptKey = keyType === 'string' || keyType === 'number' ? key : kept(key);
      const plain = value === null || valueType === 'number' || valueType === 'string';
      const keptValue = plain ? value : kept(value);
      rows[count++] = keptKey;
      rows[count++] = keptValue;
    },
    run: (map, which, docs, alone) => {
      let counts = '';
      let written = '';
      rows = newList();
      count = 0;
      loose = false;
      for (let i = 0; i < docs.length; i++) {
        tick();
        const before = count;
        try {
          map(docs[i]);
          const emitted = (count - before) / 2;
          if (loose || count >= waitingMax) {
            written += stringify(rows) + '\n';
            rows = newList();
            count = 0;
          }
          counts += emitted + ',';
        } catch (thrown) {
          counts += '0,';
          count = rows.length = before;
          failed(thrown, i, which, alone);
        }
        loose = false;
      }
      return counts + '\n' + written + (count === 0 ? '\n' : stringify(rows) + '\n\n');
    },
  };
}

export function makeMapper({ parse, newList }: Core, compile: Compile, runner: MapRunner): Mapper {
  let functions: UserFunction[] = [];
  const { freeze: freezeObject, keys } = Object;

  const deepFreeze = (value: unknown): void => {
    const waiting = newList();
    waiting[0] = value;
    for (let count = 1; count > 0;) {
      const each = waiting[--count] as Record<string, unknown>;
      const names = keys(each);
      for (let i = 0; i < names.length; i++) {
        const member = each[names[i]!];
        if (typeof member === 'object' && member !== null) waiting[count++] = member;
      }
      freezeObject(each);
    }
  };

  return {
    load: (sources) => {
      const list = parse(sources) as string[];
      functions = [];
      for (let i = 0; i < list.length; i++) functions[i] = compile(list[i]);
    },
    run: (docs, which, alone, freeze) => {
      const parsed = parse(docs) as unknown[];
      if (freeze) deepFreeze(parsed);
      const list = parse(which) as number[];
      let text = '';
      for (let i = 0; i < list.length; i++) {
        const at = list[i]!;
        text += runner.run(functions[at]!, at, parsed, alone);
      }
      return text;
    },
  };
}
