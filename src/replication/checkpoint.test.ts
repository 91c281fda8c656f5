import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerOf, commonStart, makeLog, type Session } from './checkpoint.js';
import { Stats } from './stats.js';

const entry = (session: string, seq: unknown) => ({ session_id: session, recorded_seq: seq });
const log = (session: string, seq: unknown, ...older: ReturnType<typeof entry>[]) => ({
  session_id: session,
  source_last_seq: seq,
  history: [entry(session, seq), ...older],
});

describe('two sides', () => {
  test('that have the same last session agree on its place', () => {
    const found = commonStart(log('b', '9-x', entry('a', '5-x')), log('b', '9-x', entry('a', '5-x')));
    assert.equal(found.seq, '9-x');
    assert.deepEqual(
      found.history.map(({ session_id }) => session_id),
      ['b', 'a'],
    );
  });

  test('of which one has an older note of the same session agree on the older place', () => {
    assert.equal(commonStart(log('b', '9-x'), log('b', '7-x')).seq, '7-x');
    assert.equal(commonStart(log('b', '6-x'), log('b', '7-x')).seq, '6-x');
  });

  test('of which one was put back to an earlier state agree on the last session that both know', () => {
    const found = commonStart(
      log('c', '9-x', entry('b', '7-x'), entry('a', '5-x')),
      log('b', '7-x', entry('a', '5-x')),
    );
    assert.equal(found.seq, '7-x');
    assert.deepEqual(
      found.history.map(({ session_id }) => session_id),
      ['b', 'a'],
    );
  });

  test('that have no session in common, or no notes, begin anew', () => {
    for (const [source, target] of [
      [log('a', 5), log('b', 5)],
      [log('a', 5), undefined],
      [undefined, log('a', 5)],
      [{}, {}],
      [{ session_id: 'a', source_last_seq: null }, { session_id: 'a' }],
      [
        { session_id: 'a', history: 'x' },
        { session_id: 'b', history: [1, null] },
      ],
    ])
      assert.deepEqual(commonStart(source, target), { seq: 0, history: [] });
  });

  test('may name places by numbers and by lists', () => {
    assert.equal(commonStart(log('a', 12), log('a', 12)).seq, 12);
    assert.deepEqual(commonStart(log('a', [12, 'x']), log('a', [10, 'x'])).seq, [10, 'x']);
  });
});

describe('notes', () => {
  const stats = new Stats();
  Object.assign(stats, {
    missingChecked: 4,
    missingFound: 3,
    docsRead: 3,
    docsWritten: 2,
    docWriteFailures: 1,
  });
  const session: Session = {
    id: 'new',
    startTime: new Date(0),
    startSeq: '2-x',
    history: Array.from({ length: 60 }, (_, n) => entry(`old${n}`, n)),
    withTotals: false,
  };

  test('have the new session first, and the last fifty', () => {
    const made = makeLog(session, '7-x', stats, new Date(1000));
    assert.equal(made.history.length, 50);
    assert.deepEqual(made.history[0], {
      session_id: 'new',
      start_time: 'Thu, 01 Jan 1970 00:00:00 GMT',
      end_time: 'Thu, 01 Jan 1970 00:00:01 GMT',
      start_last_seq: '2-x',
      end_last_seq: '7-x',
      recorded_seq: '7-x',
      missing_checked: 4,
      missing_found: 3,
      docs_read: 3,
      docs_written: 2,
      doc_write_failures: 1,
      bulk_get_docs: 0,
      bulk_get_attempts: 0,
    });
    assert.deepEqual(made.history[1], entry('old0', 0));
    assert.deepEqual([made.session_id, made.source_last_seq, made.replication_id_version], ['new', '7-x', 4]);
  });

  test('of some documents only have the counts at the top too', () => {
    const made = makeLog({ ...session, withTotals: true }, '7-x', stats, new Date(1000));
    assert.deepEqual([made['docs_read'], made['docs_written'], made['doc_write_failures']], [3, 2, 1]);
  });

  test('are answered with numbers for places, and keep the whole place themselves', () => {
    const made = makeLog(session, '7-abc', stats, new Date(1000));
    const answer = answerOf({ _id: '_local/x', _rev: '0-1', ...made });
    assert.equal(answer['source_last_seq'], 7);
    const [first] = answer['history'] as Record<string, unknown>[];
    assert.deepEqual([first!['end_last_seq'], first!['recorded_seq']], [7, '7-abc']);
    assert.equal(made.source_last_seq, '7-abc');
    assert.ok(!('_rev' in answer));
  });
});
