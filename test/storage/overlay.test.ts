import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, noBytes } from '../../src/base/bytes.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Overlay } from '../../src/storage/overlay.js';
import type { Store, Write } from '../../src/storage/store.js';

const stored: Write[] = [
  { key: asBytes('a'), value: asBytes('stored') },
  { key: asBytes('b'), value: asBytes('stored') },
];

function overlayOn(writes: readonly Write[]): { store: Store; overlay: Overlay } {
  const store = new MemoryStore();
  void store.write(writes);
  return { store, overlay: new Overlay(() => store) };
}

test('the newest layer that knows a key answers: the batch, the one on its way, the store', () => {
  const { overlay } = overlayOn(stored);
  assert.equal(overlay.get(asBytes('a')), 'stored');
  overlay.put(asBytes('a'), asBytes('on its way'));
  overlay.remove(asBytes('b'));
  overlay.seal();
  assert.equal(overlay.get(asBytes('a')), 'on its way');
  assert.equal(overlay.get(asBytes('b')), undefined);
  overlay.remove(asBytes('a'));
  overlay.put(asBytes('b'), asBytes('again'));
  assert.equal(overlay.get(asBytes('a')), undefined);
  assert.equal(overlay.get(asBytes('b')), 'again');
  assert.equal(overlay.get(asBytes('c')), undefined);
});

test('a batch has each key once, with the last that was written to it', () => {
  const { overlay } = overlayOn(stored);
  overlay.put(asBytes('a'), asBytes('1'));
  overlay.put(asBytes('a'), asBytes('2'));
  overlay.put(asBytes('c'), noBytes);
  overlay.put(asBytes('d'), asBytes('1'));
  overlay.remove(asBytes('d'));
  assert.equal(overlay.get(asBytes('c')), '');
  assert.deepEqual(overlay.seal(), [
    { key: 'a', value: '2' },
    { key: 'c', value: '' },
    { key: 'd', value: undefined },
  ]);
  assert.deepEqual(overlay.seal(), []);
});

test('a step that fails leaves no trace, of whatever it has done', () => {
  const { overlay } = overlayOn(stored);
  overlay.put(asBytes('a'), asBytes('on its way'));
  overlay.seal();
  overlay.atomically(() => {
    overlay.put(asBytes('a'), asBytes('batch'));
    overlay.remove(asBytes('b'));
  });
  const { bytes } = overlay;
  const undone: number[] = [];
  const failing = (): void =>
    overlay.atomically(() => {
      overlay.put(asBytes('a'), asBytes('failing'));
      overlay.onUndo(() => undone.push(1));
      overlay.remove(asBytes('a'));
      overlay.put(asBytes('a'), asBytes('failing again'));
      overlay.put(asBytes('b'), asBytes('failing'));
      overlay.put(asBytes('c'), asBytes('failing'));
      overlay.onUndo(() => undone.push(2));
      throw new Error('refused');
    });
  assert.throws(failing, /refused/);
  assert.deepEqual(undone, [2, 1], 'the last is taken back first');
  assert.equal(overlay.bytes, bytes);
  assert.equal(overlay.get(asBytes('a')), 'batch');
  assert.equal(overlay.get(asBytes('b')), undefined);
  assert.equal(overlay.get(asBytes('c')), undefined);
  assert.deepEqual(overlay.seal(), [
    { key: 'a', value: 'batch' },
    { key: 'b', value: undefined },
  ]);
});

test('what a step has done is not taken back by a later one that fails', () => {
  const { overlay } = overlayOn([]);
  const undone: string[] = [];
  const result = overlay.atomically(() => {
    overlay.put(asBytes('a'), asBytes('1'));
    overlay.onUndo(() => undone.push('first'));
    return 'done';
  });
  assert.equal(result, 'done');
  const failing = (): void =>
    overlay.atomically(() => {
      overlay.put(asBytes('b'), asBytes('1'));
      throw new Error('refused');
    });
  assert.throws(failing, /refused/);
  assert.deepEqual(undone, []);
  assert.equal(overlay.get(asBytes('a')), '1');
});

test('what was committed is read from the store', () => {
  const { store, overlay } = overlayOn(stored);
  overlay.put(asBytes('a'), asBytes('new'));
  void store.write(overlay.seal());
  overlay.committed();
  assert.equal(overlay.get(asBytes('a')), 'new');
  void store.write([{ key: asBytes('a'), value: asBytes('newer') }]);
  assert.equal(overlay.get(asBytes('a')), 'newer');
});

test('when the sealed batch fails, the one put together on top of it goes too', () => {
  const { overlay } = overlayOn(stored);
  overlay.put(asBytes('a'), asBytes('sealed'));
  overlay.seal();
  overlay.put(asBytes('b'), asBytes('on top'));
  overlay.remove(asBytes('a'));
  overlay.failed();
  assert.equal(overlay.get(asBytes('a')), 'stored');
  assert.equal(overlay.get(asBytes('b')), 'stored');
  assert.equal(overlay.bytes, 0);
  assert.deepEqual(overlay.seal(), []);
});
