import { asBytes, type Bytes } from '../../base/bytes.js';
import { quoteId } from '../../shard/doc-text.js';
import type { ScriptHost, ScriptValue } from '../../script/script-host.js';
import type { Reducer } from '../tree/reducer.js';
import { builtinFold, namesBuiltin } from './builtin.js';
import { encodeFault, isFault, ReduceFault, type Fold, type ReduceRow } from './fold.js';

/** What a tree keeps for a view's reduce, if it has one. */
export function reducersOf(source: string | undefined, scripts: ScriptHost, space: string): Reducer[] {
  if (source === undefined) return [];
  const fold = builtinFold(source);
  if (fold !== undefined) return [foldReducer(fold)];
  return namesBuiltin(source) ? [] : [new ScriptReducer(source, scripts, space)];
}

function foldReducer<State>(fold: Fold<State>): Reducer {
  return {
    reduce: (groups) => groups.map((rows) => fold.encode(fold.rows(rows))),
    rereduce: (groups) =>
      groups.map((values) => fold.encode(fold.merge(values.map((each) => fold.decode(each))))),
  };
}

/** A reduce in JavaScript, run in the sandbox: many groups at a time. */
export class ScriptReducer implements Reducer {
  constructor(
    private readonly source: string,
    private readonly scripts: ScriptHost,
    private readonly space: string,
  ) {}

  async reduce(groups: readonly (readonly ReduceRow[])[]): Promise<Bytes[]> {
    const texts = groups.map((rows) => ({
      keys: asBytes(`[${rows.map(({ keyText, id }) => `[${keyText},${quoteId(id)}]`).join(',')}]`),
      values: asBytes(`[${rows.map(({ value }) => value).join(',')}]`),
    }));
    return (await this.scripts.reduce(this.space, this.source, texts)).map(encodeValue);
  }

  /** What could not be reduced before makes the whole so. */
  async rereduce(groups: readonly (readonly Bytes[])[]): Promise<Bytes[]> {
    const faults = groups.map((values) => values.find(isFault));
    const sound = groups.filter((_, i) => faults[i] === undefined);
    const results = await this.scripts.rereduce(
      this.space,
      this.source,
      sound.map((values) => asBytes(`[${values.join(',')}]`)),
    );
    return faults.map((fault) => fault ?? encodeValue(results.shift()!));
  }
}

function encodeValue(value: ScriptValue): Bytes {
  if ('ok' in value) return value.ok;
  return encodeFault(new ReduceFault('reduce_overflow_error', String(value.reason)));
}
