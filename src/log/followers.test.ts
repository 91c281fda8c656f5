import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Followers } from './followers.js';
import { LogTruncated, type LogEntry } from './log.js';

const entries = (from: number, count: number): LogEntry<string>[] =>
  Array.from({ length: count }, (_, at) => ({ position: from + at, command: 'c' }));

test('a follower that does not keep up is told so, and holds no memory', async () => {
  const followers = new Followers<string>();
  const slow = followers.follow(0, 0);
  followers.deliver(entries(1, 9_000));
  assert.equal((await slow.next()).value?.position, 1);
  followers.deliver(entries(9_001, 9_000));
  await assert.rejects(slow.next(), LogTruncated);
  assert.ok(followers.isEmpty);
});

test('a follower may begin at a position that the log has not reached yet', async () => {
  const followers = new Followers<string>();
  const ahead = followers.follow(3, 1);
  followers.deliver(entries(2, 4));
  assert.deepEqual([(await ahead.next()).value?.position, (await ahead.next()).value?.position], [4, 5]);
});
