import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../base/bytes.js';
import { continuedHead, ownHead, type WholePlace } from './stream-end.js';
import { firstHead, type StreamHead, type StreamPlace } from './stream-place.js';
import { CopyNeeded, epochAfter, StreamLost, StreamReplaced, type StreamInfo } from './stream.js';

const hash = asBytes('h'.repeat(16));
const headAt = (epoch: string, seq: number): StreamHead => ({ ...firstHead(epoch), seq, hash });
const placeAt = (epoch: string, seq: number): WholePlace => {
  const head = headAt(epoch, seq);
  return { head, isWhole: true, reach: head, last: seq };
};

/** The epochs of a stream that was made anew twice. */
const first = 'a'.repeat(16);
const second = epochAfter(first, 'b'.repeat(16));
const third = epochAfter(second, 'c'.repeat(16));

const madeAnew = (epoch: string, before: string): StreamInfo => ({
  epoch,
  first: 11,
  last: 20,
  recovered: { node: 'a', epoch: before, seq: 10, hash },
});

test('a replica copies a stream that was made anew since, also more than once', () => {
  const replaced = (place: WholePlace, info: StreamInfo): void =>
    assert.throws(() => continuedHead('s', place, info), StreamReplaced);
  replaced(placeAt(first, 12), madeAnew(second, first));
  replaced(placeAt(first, 12), madeAnew(third, second));
  replaced(placeAt(second, 12), madeAnew(third, second));
  assert.equal(continuedHead('s', placeAt(first, 10), madeAnew(second, first)).epoch, second);
});

test('a replica does not take a backup from between two recoveries for a newer stream', () => {
  for (const info of [madeAnew(second, first), madeAnew(epochAfter(second, 'd'.repeat(16)), second)])
    assert.throws(
      () => continuedHead('s', placeAt(third, 12), info),
      (error) => error instanceof StreamLost && !(error instanceof CopyNeeded),
    );
});

test('streams that were made anew before epochs told how often are recognized', () => {
  const info = madeAnew('e'.repeat(16), first);
  assert.throws(() => continuedHead('s', placeAt(first, 12), info), StreamReplaced);
  assert.equal(continuedHead('s', placeAt(first, 10), info).epoch, 'e'.repeat(16));
});

test('stores at different places have a history of their own', () => {
  const at = (seq: number, index = 0): StreamPlace => ({ head: headAt(first, seq), index, done: 0 });
  const own = (place: StreamPlace, reach: StreamPlace) =>
    ownHead({ place: () => place, reach: () => reach }, 'a')!;
  assert.equal(own(at(3), at(3)).hash, hash);
  for (const partial of [own(at(2), at(3)), own(at(3), at(3, 1))]) {
    assert.equal(partial.seq, 3);
    assert.notEqual(partial.hash, hash);
    assert.equal(partial.hash.length, 16);
  }
});
