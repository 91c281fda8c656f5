/**
 * A checker of histories of one document: a register that is changed by compare-and-set, as documents are by their revisions.
 *
 * A history is *linearizable* if every operation can be given a moment between its beginning and its end such that all of them,
 * in the order of these moments, do what they were told to have done. The search is that of Wing and Gong with Lowe's memory of
 * what was tried: it picks an operation that no other one has to precede, and goes back where it gets no further.
 *
 * Every write has a value of its own, so a value says which write it came from.
 */
export type Operation = Timed &
  (
    | { kind: 'read'; value: string | undefined }
    /** Replaces `expected` by `value`. A conflict is a write that was refused because the document had another value. */
    | { kind: 'write'; expected: string | undefined; value: string; outcome: 'done' | 'conflict' | 'unknown' }
  );

interface Timed {
  start: number;
  /** Infinite where it may still happen. */
  end: number;
}

type State = string | undefined;

/** Tries that a search may take: above it, the history is too long to be judged. */
const triesMax = 2_000_000;

/** Undefined where the history is linearizable; otherwise the operations among which the next one had to be. */
export function findViolation(history: readonly Operation[]): Operation[] | undefined {
  const operations = [...history].sort((one, other) => one.start - other.start);
  const required = operations.filter(({ end }) => end < Infinity).length;
  const tried = new Set<string>();
  let deepest: { placed: number; stuckAt: Operation[] } = { placed: -1, stuckAt: [] };
  let tries = 0;
  const isPlaced = new Array<boolean>(operations.length).fill(false);

  function place(state: State, placed: number): boolean {
    if (placed === required) return true;
    if (++tries > triesMax) throw new Error('the history is too long to be checked');
    const key = `${isPlaced.map(Number).join('')} ${state}`;
    if (tried.has(key)) return false;
    tried.add(key);
    const choices = candidates(operations, isPlaced);
    if (placed > deepest.placed) deepest = { placed, stuckAt: choices.map((at) => operations[at]!) };
    // A read of the present value changes nothing: if there is an order, there is one that begins with it.
    const read = choices.find((at) => isReadOf(operations[at]!, state));
    for (const at of read === undefined ? choices : [read]) {
      const operation = operations[at]!;
      const next = step(operation, state);
      if (next === undefined) continue;
      isPlaced[at] = true;
      if (place(next.state, placed + (operation.end < Infinity ? 1 : 0))) return true;
      isPlaced[at] = false;
    }
    return false;
  }
  return place(undefined, 0) ? undefined : deepest.stuckAt;
}

/** Those that begin before any other one that is left has ended. */
function candidates(operations: readonly Operation[], isPlaced: readonly boolean[]): number[] {
  let firstEnd = Infinity;
  const found: number[] = [];
  for (const [at, { start, end }] of operations.entries()) {
    if (isPlaced[at]) continue;
    if (start > firstEnd) break;
    found.push(at);
    firstEnd = Math.min(firstEnd, end);
  }
  return found.filter((at) => operations[at]!.start <= firstEnd);
}

const isReadOf = (operation: Operation, state: State): boolean =>
  operation.kind === 'read' && operation.value === state;

/** The state behind an operation; nothing where it cannot have happened in this state. */
function step(operation: Operation, state: State): { state: State } | undefined {
  if (operation.kind === 'read') return operation.value === state ? { state } : undefined;
  if (operation.outcome === 'conflict') return operation.expected === state ? undefined : { state };
  return operation.expected === state ? { state: operation.value } : undefined;
}
