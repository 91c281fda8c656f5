import { asBytes, type Bytes } from '../../base/bytes.js';
import type { ScriptHost } from '../../script/script-host.js';
import type { Piece } from '../tree/piece.js';
import type { RowEnd } from '../tree/row.js';
import { builtinFold, namesBuiltin } from './builtin.js';
import { decodeFault, isFault, type Fold, type ReduceFault } from './fold.js';
import { ScriptReducer } from './tree-reducer.js';

/** A reduced value as JSON text, or why there is none. */
export type Reduced = Bytes | ReduceFault;

/** Reduces what was found for each of several groups, in the order of the view. */
export type QueryReduce =
  | {
      isSync: true;
      fold: Fold<unknown> | undefined;
      evaluate(groups: readonly (readonly Piece[])[]): Reduced[];
    }
  | { isSync: false; evaluate(groups: readonly (readonly Piece[])[]): Promise<Reduced[]> };

export function queryReduce(source: string, scripts: ScriptHost, space: string): QueryReduce {
  const fold = builtinFold(source);
  if (fold !== undefined) {
    const evaluate = (groups: readonly (readonly Piece[])[]): Reduced[] =>
      groups.map((pieces) => fold.show(folded(fold, pieces)));
    return { isSync: true, fold, evaluate };
  }
  if (namesBuiltin(source))
    return { isSync: true, fold: undefined, evaluate: (groups) => groups.map(() => asBytes('null')) };
  const reducer = new ScriptReducer(source, scripts, space);
  return { isSync: false, evaluate: (groups) => byScript(reducer, groups) };
}

/** The end of the rows that alone matters, if one does. */
export const endOf = (reduce: QueryReduce | undefined): RowEnd | undefined =>
  reduce?.isSync === true ? reduce.fold?.end : undefined;

function folded<State>(fold: Fold<State>, pieces: readonly Piece[]): State {
  if (fold.ofCount !== undefined) return fold.ofCount(pieces.reduce((sum, { count }) => sum + count, 0));
  // What a piece comes to is kept with the node it is of, and is there for the next query that meets it.
  const states = pieces.map((piece) => (piece.parsed ??= stateOf(fold, piece)) as State);
  return states.length === 1 ? states[0]! : fold.merge(states);
}

function stateOf<State>(fold: Fold<State>, piece: Piece): State {
  const { rows } = piece;
  if (rows !== undefined) return fold.rows(rows);
  const states = piece.decoded((reduction) => fold.decode(reduction)) as State[];
  return states.length === 1 ? states[0]! : fold.merge(states);
}

async function byScript(reducer: ScriptReducer, groups: readonly (readonly Piece[])[]): Promise<Reduced[]> {
  const found = groups.map((pieces) => pieces.map(({ rows, reductions }) => ({ rows, reductions })));
  const rowLists = found.flatMap((pieces) =>
    pieces.flatMap(({ rows }) => (rows === undefined ? [] : [rows])),
  );
  const ofRows = rowLists.length === 0 ? [] : await reducer.reduce(rowLists);
  const values = found.map((pieces) => pieces.flatMap(({ reductions }) => reductions ?? [ofRows.shift()!]));
  const many = values.filter((list) => list.length > 1);
  const merged = many.length === 0 ? [] : await reducer.rereduce(many);
  return values.map((list) => {
    const value = list.length > 1 ? merged.shift()! : (list[0] ?? asBytes('null'));
    return isFault(value) ? decodeFault(value) : value;
  });
}
