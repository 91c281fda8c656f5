import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sequenceAt, withMark, type TimeMark } from './time-marks.js';

const hour = 3_600;
const start = 1_800_000_000;

function hourly(hours: number): TimeMark[] {
  let marks: TimeMark[] = [];
  for (let n = 0; n < hours; n++) marks = withMark(marks, [start + n * hour, String(n)]);
  return marks;
}

test('marks stay in order and are few, the first and the newest among them', () => {
  const marks = hourly(5_000);
  assert.equal(marks.length, 60);
  assert.deepEqual(marks[0], [start, '0']);
  assert.deepEqual(marks.at(-1), [start + 4_999 * hour, '4999']);
  assert.deepEqual(
    marks,
    marks.toSorted(([a], [b]) => a - b),
  );
});

test('the gap before any time of the past is a fraction of its age', () => {
  const marks = hourly(20_000);
  const now = start + 19_999 * hour;
  for (let i = 1; i < marks.length; i++) {
    const gap = marks[i]![0] - marks[i - 1]![0];
    const age = now - marks[i - 1]![0];
    assert.ok(gap <= hour || gap <= age * 0.4, `${gap / hour} h at an age of ${age / hour} h`);
  }
});

test('the sequence at a time is that of the last mark before it', () => {
  const marks: TimeMark[] = [
    [100, 'a'],
    [200, 'b'],
  ];
  const found = [0, 99, 100, 150, 199, 200, 1e12].map((seconds) => sequenceAt(marks, seconds));
  assert.deepEqual(found, ['0', '0', 'a', 'a', 'a', 'b', 'b']);
  assert.equal(sequenceAt([], 500), '0');
});
