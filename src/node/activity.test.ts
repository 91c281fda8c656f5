import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Split } from '../shard/split.js';
import type { Touched } from '../shard/write-view.js';
import { Activity } from './activity.js';

function counted(touched: { moves: number[]; types?: string[]; split?: Partial<Split> }): Partial<Activity> {
  const commands = (touched.types ?? ['edit']).map((type) => ({
    position: 1,
    command: { type, edits: [0, 0] },
  }));
  const activity = new Activity();
  activity.committed({ ...touched, commands } as unknown as Touched);
  return { ...activity };
}

const nothing = { documentWrites: 0, documentInserts: 0, localDocumentWrites: 0, databaseWrites: 0 };

test('new revisions and new documents are counted, purged ones are not', () => {
  const moves = [0, 7, 3, 1, 8, 0, 0, 0, 5];
  assert.deepEqual(counted({ moves }), {
    ...nothing,
    documentWrites: 2,
    documentInserts: 1,
    databaseWrites: 1,
  });
});

test('local documents are counted by themselves', () => {
  const expected = { ...nothing, localDocumentWrites: 2, databaseWrites: 1 };
  assert.deepEqual(counted({ moves: [], types: ['local'] }), expected);
});

test('what a split copies and removes is no write of a client', () => {
  const split: Partial<Split> = { phase: 'copying', source: 0, target: 8 };
  assert.deepEqual(counted({ moves: [8, 4, 0, 9, 5, 0], types: ['split'], split }), nothing);
  assert.deepEqual(counted({ moves: [0, 0, 4], types: ['split'] }), nothing);
  const mirrored = counted({ moves: [0, 6, 4, 9, 6, 0], split });
  assert.deepEqual(mirrored, { ...nothing, documentWrites: 1, databaseWrites: 1 });
});
