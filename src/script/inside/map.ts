import type { Compile, UserFunction } from './compile.js';
import type { Core } from './core.js';

export interface Mapper {
  emit: (key: unknown, value: unknown) => void;
  /** Takes the sources of the functions to be run, as JSON. */
  load: (sources: string) => void;
  /**
   * Runs the functions `which` on documents, all of them JSON. For each function there is a line with the number of rows
   * of each document and a comma behind each, lines with rows as `[key,value,key,value,…]`, and an empty line. `alone`: there is one document,
   * and whatever fails is its own fault.
   */
  run: (docs: string, which: string, alone: boolean) => string;
}

export function makeMapper(core: Core, compile: Compile, tick: () => void): Mapper {
  const { parse, stringify, isArray, newList, isExhausted, describe, note } = core;
  const copiedMax = 16;
  const waitingMax = 2_000;
  let functions: UserFunction[] = [];
  /** Keys and values that wait to be written: many at a time is far cheaper than each for itself. */
  let rows = newList();
  let count = 0;
  /** Whether among them are objects that a function might still change: those don't wait for the next document. */
  let loose = false;

  /** A copy of a short array without objects in it, as most keys are: nobody else can change it. */
  const copied = (list: unknown[]): unknown[] | undefined => {
    if (list.length > copiedMax || (list as { toJSON?: unknown }).toJSON !== undefined) return undefined;
    const copy: unknown[] = [];
    for (let i = 0; i < list.length; i++) {
      const each = list[i];
      if ((typeof each === 'object' && each !== null) || typeof each === 'bigint') return undefined;
      copy[i] = each;
    }
    return copy;
  };

  const kept = (value: unknown): unknown => {
    if (typeof value === 'bigint') throw new TypeError('BigInt values have no form in JSON');
    if (typeof value !== 'object' || value === null) return value;
    const copy = isArray(value) ? copied(value) : undefined;
    if (copy === undefined) loose = true;
    return copy ?? value;
  };

  const failed = (thrown: unknown, doc: number, which: number, alone: boolean): void => {
    // Others' rows may have taken the memory.
    if (isExhausted(thrown) && !alone) throw thrown;
    if (thrown === 'fatal_error') throw ['fatal', 'map_runtime_error', "function raised 'fatal_error'"];
    if (isArray(thrown) && thrown[0] === 'fatal') throw thrown;
    note([doc, which, describe(thrown)]);
  };

  const runOne = (which: number, docs: readonly unknown[], alone: boolean): string => {
    const map = functions[which]!;
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
  };

  return {
    emit: (key, value) => {
      const keyType = typeof key;
      const valueType = typeof value;
      const keptKey = keyType === 'string' || keyType === 'number' ? key : kept(key);
      const keptValue =
        value === null || valueType === 'number' || valueType === 'string' ? value : kept(value);
      rows[count++] = keptKey;
      rows[count++] = keptValue;
    },
    load: (sources) => {
      const list = parse(sources) as string[];
      functions = [];
      for (let i = 0; i < list.length; i++) functions[i] = compile(list[i]);
    },
    run: (docs, which, alone) => {
      const parsed = parse(docs) as unknown[];
      const list = parse(which) as number[];
      let text = '';
      for (let i = 0; i < list.length; i++) text += runOne(list[i]!, parsed, alone);
      return text;
    },
  };
}
