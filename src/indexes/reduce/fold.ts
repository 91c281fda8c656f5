import { asBytes, fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import type { RowEnd } from '../tree/row.js';

/** What a reduce sees of a row. */
export interface ReduceRow {
  /** JSON text. */
  readonly keyText: Bytes;
  readonly id: Bytes;
  /** JSON text. */
  readonly value: Bytes;
}

/**
 * A reduce that is built in. `State` is what is known of some rows; the tree keeps it, encoded, for each of its nodes, and
 * a query merges what it finds. Rows and states of one index come in the order of the view; states of the indexes of several
 * groups come in any order, unless `end` is set.
 */
export interface Fold<State> {
  /** Set where the state is that of the row at this end alone. */
  readonly end?: RowEnd;
  /** Set where earlier versions kept states that are not to be merged with these: their indexes are built anew. */
  readonly form?: number;
  rows(rows: readonly ReduceRow[]): State;
  /** Where it takes no more than their number to tell. */
  ofCount?(rows: number): State;
  merge(states: readonly State[]): State;
  encode(state: State): Bytes;
  decode(bytes: Bytes): State;
  /** As the answer shows it, or why there is none. */
  show(state: State): Bytes | ReduceFault;
}

/** Why some rows could not be reduced. It is kept like a value, so that other rows and plain queries do not suffer. */
export class ReduceFault {
  constructor(
    readonly error: 'builtin_reduce_error' | 'invalid_value' | 'reduce_overflow_error',
    readonly reason: string,
    /** JSON text of the value that is to blame. */
    readonly causedBy?: Bytes,
  ) {}
}

const faultMark = '!';

/** A fault begins with a mark that no JSON text begins with. */
export function encodeFault({ error, reason, causedBy }: ReduceFault): Bytes {
  return asBytes(faultMark + toBytes(JSON.stringify([error, reason, causedBy ?? null])));
}

export const isFault = (bytes: Bytes): boolean => bytes.startsWith(faultMark);

export function decodeFault(bytes: Bytes): ReduceFault {
  const [error, reason, causedBy] = JSON.parse(fromBytes(bytes.slice(faultMark.length))) as [
    ReduceFault['error'],
    string,
    Bytes | null,
  ];
  return new ReduceFault(error, reason, causedBy ?? undefined);
}

export const parseValue = (text: Bytes): unknown => {
  const first = text.charCodeAt(0);
  // Nearly all values that are reduced are numbers.
  if (first >= 0x30 && first <= 0x39) return Number(text);
  return JSON.parse(fromBytes(text)) as unknown;
};

export const jsonBytes = (value: unknown): Bytes => toBytes(JSON.stringify(value));
