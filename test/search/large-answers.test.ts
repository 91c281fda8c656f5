import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, noBytes, type Bytes } from '../../src/base/bytes.js';
import { RequestError } from '../../src/base/errors.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { HitTexts } from '../../src/fulltext/hit-texts.js';

const runtime = new SystemRuntime();
const hits = Array.from({ length: 2_000 }, (_, doc) => ({ doc, order: [doc] }));
const megabyte = asBytes('x'.repeat(1024 * 1024));
const ignore = (): void => {};

test('hits that take too much memory are refused', async () => {
  let written = 0;
  const texts = new HitTexts({ runtime, check: ignore, hold: ignore }, () => (written++, megabyte));
  await assert.rejects(texts.write(hits), { error: 'bad_request' });
  assert.equal(written, 64);
});

test('hits of several groups are counted together', async () => {
  const texts = new HitTexts({ runtime, check: ignore, hold: ignore }, () => megabyte);
  assert.equal((await texts.write(hits.slice(0, 40))).length, 40 * (megabyte.length + 1) - 1);
  await assert.rejects(texts.write(hits.slice(0, 40)), { error: 'bad_request' });
});

test('the room for hits is taken as they are written', async () => {
  const held: number[] = [];
  const texts = new HitTexts({ runtime, check: ignore, hold: (bytes) => held.push(bytes) }, () =>
    asBytes('abc'),
  );
  await texts.write(hits.slice(0, 3));
  assert.deepEqual(held, [4, 8, 12]);
});

test('writing hits stops when nobody waits for them', async () => {
  const gone = new RequestError('timeout', 'gone');
  const check = (): void => {
    throw gone;
  };
  const slow = (): Bytes => {
    const until = runtime.monotonicMs() + 10;
    while (runtime.monotonicMs() < until);
    return noBytes;
  };
  const texts = new HitTexts({ runtime, check, hold: ignore }, slow);
  await assert.rejects(texts.write(hits), gone);
});
