import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Overlay } from '../../src/storage/overlay.js';
import type { Store, Write } from '../../src/storage/store.js';

const stored: Write[] = [
  { key: 'a', value: 'stored' },
  { key: 'b', value: 'stored' },
];

function overlayOn(writes: readonly Write[]): { store: Store; overlay: Overlay } {
  const store = new MemoryStore();
  void store.write(writes);
  return { store, overlay: new Overlay(() => store) };
}

test('the newest layer that knows a key answers: the batch, the one on its way, the store', () => {
  const { overlay } = overlayOn(stored);
  assert.equal(overlay.get('a'), 'stored');
  overlay.put('a', 'on its way');
  overlay.remove('b');
  overlay.seal();
  assert.equal(overlay.get('a'), 'on its way');
  assert.equal(overlay.get('b'), undefined);
  overlay.remove('a');
  overlay.put('b', 'again');
  assert.equal(overlay.get('a'), undefined);
  assert.equal(overlay.get('b'), 'again');
  assert.equal(overlay.get('c'), undefined);
});

test('a batch has each key once, with the last that was written to it', () => {
  const { overlay } = overlayOn(stored);
  overlay.put('a', '1');
  overlay.put('a', '2');
  overlay.put('c', '');
  overlay.put('d', '1');
  overlay.remove('d');
  assert.equal(overlay.get('c'), '');
  assert.deepEqual(overlay.seal(), [
    { key: 'a', value: '2' },
    { key: 'c', value: '' },
    { key: 'd', value: undefined },
  ]);
  assert.deepEqual(overlay.seal(), []);
});

test('a step that fails leaves no trace, of whatever it has done', () => {
  const { overlay } = overlayOn(stored);
  overlay.put('a', 'on its way');
  overlay.seal();
  overlay.atomically(() => {
    overlay.put('a', 'batch');
    overlay.remove('b');
  });
  const { bytes } = overlay;
  const undone: number[] = [];
  const failing = (): void =>
    overlay.atomically(() => {
      overlay.put('a', 'failing');
      overlay.onUndo(() => undone.push(1));
      overlay.remove('a');
      overlay.put('a', 'failing again');
      overlay.put('b', 'failing');
      overlay.put('c', 'failing');
      overlay.onUndo(() => undone.push(2));
      throw new Error('refused');
    });
  assert.throws(failing, /refused/);
  assert.deepEqual(undone, [2, 1], 'the last is taken back first');
  assert.equal(overlay.bytes, bytes);
  assert.equal(overlay.get('a'), 'batch');
  assert.equal(overlay.get('b'), undefined);
  assert.equal(overlay.get('c'), undefined);
  assert.deepEqual(overlay.seal(), [
    { key: 'a', value: 'batch' },
    { key: 'b', value: undefined },
  ]);
});

test('what a step has done is not taken back by a later one that fails', () => {
  const { overlay } = overlayOn([]);
  const undone: string[] = [];
  const result = overlay.atomically(() => {
    overlay.put('a', '1');
    overlay.onUndo(() => undone.push('first'));
    return 'done';
  });
  assert.equal(result, 'done');
  const failing = (): void =>
    overlay.atomically(() => {
      overlay.put('b', '1');
      throw new Error('refused');
    });
  assert.throws(failing, /refused/);
  assert.deepEqual(undone, []);
  assert.equal(overlay.get('a'), '1');
});

test('what was committed is read from the store', () => {
  const { store, overlay } = overlayOn(stored);
  overlay.put('a', 'new');
  void store.write(overlay.seal());
  overlay.committed();
  assert.equal(overlay.get('a'), 'new');
  void store.write([{ key: 'a', value: 'newer' }]);
  assert.equal(overlay.get('a'), 'newer');
});

test('when the sealed batch fails, the one put together on top of it goes too', () => {
  const { overlay } = overlayOn(stored);
  overlay.put('a', 'sealed');
  overlay.seal();
  overlay.put('b', 'on top');
  overlay.remove('a');
  overlay.failed();
  assert.equal(overlay.get('a'), 'stored');
  assert.equal(overlay.get('b'), 'stored');
  assert.equal(overlay.bytes, 0);
  assert.deepEqual(overlay.seal(), []);
});
