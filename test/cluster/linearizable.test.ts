import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { findViolation, type Operation } from './linearizable.js';

type Outcome = (Operation & { kind: 'write' })['outcome'];

const read = (start: number, end: number, value?: string): Operation => ({ kind: 'read', start, end, value });
const write = (
  start: number,
  end: number,
  [expected, value]: [string | undefined, string],
  outcome: Outcome = 'done',
): Operation => ({ kind: 'write', start, end, expected, value, outcome });

describe(`the checker of histories, seed ${seed}`, () => {
  const accepted: Record<string, Operation[]> = {
    'nothing at all': [],
    'one after the other': [read(0, 1), write(2, 3, [undefined, 'a']), read(4, 5, 'a')],
    'a read beside a write sees the old value': [write(0, 9, [undefined, 'a']), read(1, 2)],
    'a read beside a write sees the new value': [write(0, 9, [undefined, 'a']), read(1, 2, 'a')],
    'of two writes of the same revision one is refused': [
      write(0, 9, [undefined, 'a']),
      write(1, 8, [undefined, 'b'], 'conflict'),
      read(10, 11, 'a'),
    ],
    'a write of unknown outcome has happened': [
      write(0, Infinity, [undefined, 'a'], 'unknown'),
      read(5, 6),
      read(7, 8, 'a'),
      write(9, 10, ['a', 'b']),
    ],
    'a write of unknown outcome has not happened': [
      write(0, Infinity, [undefined, 'a'], 'unknown'),
      write(5, 6, [undefined, 'b']),
      read(7, 8, 'b'),
    ],
  };
  for (const [name, history] of Object.entries(accepted))
    test(`${name}: accepted`, () => assert.equal(findViolation(history), undefined));

  const refused: Record<string, Operation[]> = {
    'an acknowledged write is lost': [write(0, 1, [undefined, 'a']), read(2, 3)],
    'a read goes back': [
      write(0, 1, [undefined, 'a']),
      write(2, 20, ['a', 'b']),
      read(3, 4, 'b'),
      read(5, 6, 'a'),
    ],
    'a stale read': [write(0, 1, [undefined, 'a']), write(2, 3, ['a', 'b']), read(4, 5, 'a')],
    'two writes of the same revision succeed': [
      write(0, 9, [undefined, 'a']),
      write(1, 8, [undefined, 'b']),
      read(10, 11, 'b'),
    ],
    'a refused write has happened': [
      write(0, 1, [undefined, 'a']),
      write(2, 3, ['a', 'b'], 'conflict'),
      read(4, 5, 'b'),
    ],
    'a write is refused without reason': [
      write(0, 1, [undefined, 'a']),
      write(2, 3, ['a', 'b'], 'conflict'),
      write(4, 5, ['a', 'c']),
    ],
    'a value from nowhere': [read(0, 1, 'z')],
    'a write of unknown outcome is seen, then not': [
      write(0, Infinity, [undefined, 'a'], 'unknown'),
      read(1, 2, 'a'),
      read(3, 4),
    ],
    'a write of unknown outcome happens before it began': [
      read(0, 1, 'a'),
      write(2, Infinity, [undefined, 'a'], 'unknown'),
    ],
  };
  for (const [name, history] of Object.entries(refused))
    test(`${name}: refused`, () => assert.notEqual(findViolation(history), undefined));

  test('histories of a real register are accepted, and refused when a read is changed to an older value', () => {
    const random = new Random(seed);
    let refusals = 0;
    for (let round = 0; round < 50; round++) {
      const history = simulate(random, 60);
      assert.equal(findViolation(history), undefined, `round ${round}`);
      const reads = history.filter((each) => each.kind === 'read' && each.value !== undefined);
      const last = reads.at(-1);
      if (last === undefined || last.kind !== 'read') continue;
      const written = history.filter(
        ({ kind, start, end }) => kind === 'write' && end < last.start && start > reads[0]!.end,
      );
      if (!written.some((each) => each.kind === 'write' && each.outcome === 'done')) continue;
      const changed = history.map((each) => (each === last ? { ...last, value: undefined } : each));
      assert.notEqual(findViolation(changed), undefined, `round ${round}`);
      refusals++;
    }
    assert.ok(refusals > 10);
  });
});

/** Clients of a register that each do one thing at a time, with moments at which it happens. */
function simulate(random: Random, count: number): Operation[] {
  const clients = Array.from({ length: 4 }, () => ({ freeAt: 0, seen: undefined as string | undefined }));
  let state: string | undefined;
  let moment = 0;
  return Array.from({ length: count }, (_, n) => {
    moment += 1 + random.below(5);
    const client = random.pick(clients.filter(({ freeAt }) => freeAt < moment));
    const start = client.freeAt + ((moment - client.freeAt) * (1 + random.below(9))) / 10;
    const end = moment + random.below(5) / 10 + 0.1;
    client.freeAt = end;
    if (random.oneIn(2)) {
      client.seen = state;
      return read(start, end, state);
    }
    const [expected, value] = [client.seen, `v${n}`];
    const isDone = expected === state;
    if (isDone) state = value;
    if (random.oneIn(4)) return write(start, Infinity, [expected, value], 'unknown');
    return write(start, end, [expected, value], isDone ? 'done' : 'conflict');
  });
}
