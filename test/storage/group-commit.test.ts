import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { asBytes } from '../../src/base/bytes.js';
import { GroupCommit } from '../../src/storage/group-commit.js';
import { MemoryStore } from '../../src/storage/memory-store.js';
import { Overlay } from '../../src/storage/overlay.js';
import { Scene } from './scene.js';

test('a large step that fails leaves no trace: what comes later is not kept waiting', async () => {
  const store = new MemoryStore();
  const overlay = new Overlay(() => store);
  const commits = new GroupCommit(() => store, overlay);
  const failing = commits.submit(() => {
    overlay.put(asBytes('large'), asBytes('x'.repeat(40_000_000)));
    throw new Error('refused');
  });
  await assert.rejects(failing, /refused/);
  assert.equal(overlay.bytes, 0);
  assert.equal(overlay.get(asBytes('large')), undefined);
  const later = commits.submit(() => overlay.put(asBytes('small'), asBytes('1')));
  const waited = pause(2_000, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('it waits for ever')),
  );
  await Promise.race([later, waited]);
  assert.equal(store.get(asBytes('small')), '1');
});

test('a batch that is on disk is saved, even if telling readers of it fails', async () => {
  const store = new MemoryStore();
  const overlay = new Overlay(() => store);
  const commits = new GroupCommit(
    () => store,
    overlay,
    () => () => {
      throw new Error('a reader failed');
    },
  );
  await commits.submit(() => overlay.put(asBytes('a'), asBytes('1')));
  assert.equal(store.get(asBytes('a')), '1');
  await commits.submit(() => overlay.put(asBytes('b'), asBytes('1')));
  assert.equal(store.get(asBytes('b')), '1');
});

describe('groups', () => {
  test('steps of one turn share a batch; what comes during a commit goes into the next', async () => {
    const scene = new Scene();
    const saved = [scene.put('a'), scene.put('b')];
    const first = await scene.batch(1);
    saved.push(scene.put('c'), scene.put('d'));
    assert.deepEqual(scene.events, ['ran a', 'ran b', 'ran c', 'ran d'], 'steps do not wait for the disk');
    first.finish();
    (await scene.batch(2)).finish();
    await Promise.all(saved);
    assert.deepEqual(scene.sealed, [
      ['a', 'b'],
      ['c', 'd'],
    ]);
    // A batch is told of before it is answered. Answers may come later than those to the next batch: the disk comes first.
    for (const [told, saved] of [
      ['told of a,b', 'saved a'],
      ['told of a,b', 'saved b'],
      ['told of a,b', 'told of c,d'],
      ['told of c,d', 'saved c'],
      ['told of c,d', 'saved d'],
    ] as const)
      assert.ok(scene.events.indexOf(told) < scene.events.indexOf(saved), scene.events.join('; '));
  });

  test('a step gets its own result or its own error', async () => {
    const scene = new Scene();
    const { commits, store, overlay } = scene;
    const good = commits.submit(() => 42);
    const bad = commits.submit(() => {
      overlay.put(asBytes('bad'), asBytes('1'));
      throw new Error('refused');
    });
    const last = commits.submit(() => overlay.get(asBytes('bad')));
    (await scene.batch(1)).finish();
    await assert.rejects(bad, /refused/);
    assert.equal(await good, 42);
    assert.equal(await last, undefined);
    assert.deepEqual(store.batches[0]!.keys, []);
  });
});

describe('a step that throws for what another has written', () => {
  /** Refuses a key that is taken. */
  const take = (scene: Scene, key: string): Promise<string> =>
    scene.commits
      .submit(() => {
        if (scene.overlay.get(asBytes(key)) !== undefined) throw new Error('taken');
        scene.overlay.put(asBytes(key), asBytes('1'));
      })
      .then(
        () => 'took',
        (error: Error) => error.message,
      );

  for (const when of ['before the batch is on its way', 'while the batch is on its way']) {
    test(`rejects when that can be read, ${when}`, async () => {
      const scene = new Scene();
      const first = take(scene, 'a');
      if (when.startsWith('while')) await scene.batch(1);
      let readable: string | undefined;
      const second = take(scene, 'a').then((outcome) => {
        readable = scene.store.get(asBytes('a'));
        return outcome;
      });
      const batch = await scene.batch(1);
      await pause(5);
      assert.equal(readable, undefined);
      batch.finish();
      assert.deepEqual(await Promise.all([first, second]), ['took', 'taken']);
      assert.equal(readable, '1');
    });

    test(`is run again when that fails, ${when}`, async () => {
      const scene = new Scene();
      const first = take(scene, 'a');
      if (when.startsWith('while')) await scene.batch(1);
      const others = [take(scene, 'a'), take(scene, 'a')];
      (await scene.batch(1)).fail();
      (await scene.batch(2)).finish();
      assert.deepEqual(await Promise.all([first, ...others]), ['the disk is full', 'took', 'taken']);
      assert.equal(scene.store.get(asBytes('a')), '1');
    });
  }
});

describe('a store that refuses a batch', () => {
  test('fails all steps of the batch and those built on it, and later ones see the true state', async () => {
    const scene = new Scene();
    const outcomes = [scene.put('base', 'old')];
    (await scene.batch(1)).finish();
    await Promise.all(outcomes);
    outcomes.push(scene.put('base', 'new'), scene.put('b'));
    const refused = await scene.batch(2);
    outcomes.push(scene.put('c', scene.overlay.get(asBytes('base'))));
    assert.equal(scene.overlay.get(asBytes('c')), 'new');
    refused.fail();
    await Promise.all(outcomes);
    const lost = ['base', 'b', 'c'].map((key) => `lost ${key}: the disk is full`);
    assert.deepEqual(scene.events.slice(-3), lost);
    assert.equal(scene.overlay.get(asBytes('base')), 'old');
    assert.equal(scene.overlay.get(asBytes('b')), undefined);
    assert.equal(scene.overlay.get(asBytes('c')), undefined);
    assert.equal(scene.overlay.bytes, 0);
    const again = scene.put('d', scene.overlay.get(asBytes('base')));
    (await scene.batch(3)).finish();
    await again;
    assert.equal(scene.store.get(asBytes('d')), 'old');
    assert.deepEqual(scene.store.batches[2]!.keys, ['d']);
    assert.deepEqual(scene.sealed, [['base'], ['base', 'b'], [], ['d']]);
    assert.ok(!scene.events.includes('told of base,b'), 'readers are told of nothing that is not there');
  });

  test('may do so by throwing at once', async () => {
    const scene = new Scene();
    scene.store.throwsNext = true;
    const lost = scene.put('a');
    await Promise.race([lost, pause(200)]);
    assert.deepEqual(scene.events, ['ran a', 'lost a: the store is closed']);
    const saved = scene.put('b');
    (await scene.batch(1)).finish();
    await saved;
  });

  test('lets those go on who wait for the end of it', async () => {
    const scene = new Scene();
    const lost = scene.put('a');
    const batch = await scene.batch(1);
    const calls: string[] = [];
    const waiting = [
      scene.commits.whenIdle().then(() => calls.push('drained')),
      scene.commits.runBetweenCommits(() => calls.push('quiet')),
      scene.commits.runExclusive(() => Promise.resolve(calls.push('held'))),
    ];
    batch.fail();
    await Promise.all([lost, ...waiting]);
    assert.deepEqual(calls.sort(), ['drained', 'held', 'quiet']);
  });
});

describe('steps that nobody waits for', () => {
  const patiently = (scene: Scene, key: string): Promise<void> =>
    scene.commits.submit(() => scene.overlay.put(asBytes(key), asBytes('1')), undefined, true);

  test('share a commit with those that come within a moment', async () => {
    const scene = new Scene();
    const first = patiently(scene, 'a');
    assert.equal(scene.overlay.get(asBytes('a')), '1', 'they are run at once');
    await nextTurn();
    const second = patiently(scene, 'b');
    await nextTurn();
    assert.equal(scene.store.batches.length, 0);
    scene.runtime.elapse();
    (await scene.batch(1)).finish();
    await Promise.all([first, second]);
    assert.deepEqual(scene.sealed, [['a', 'b']]);
  });

  test('are on disk with the next step that somebody waits for, or as soon as somebody does', async () => {
    const scene = new Scene();
    const saved = [patiently(scene, 'a'), scene.put('b')];
    (await scene.batch(1)).finish();
    saved.push(patiently(scene, 'c'));
    await nextTurn();
    scene.commits.hurry();
    (await scene.batch(2)).finish();
    saved.push(patiently(scene, 'd'));
    const idle = scene.commits.whenIdle();
    (await scene.batch(3)).finish();
    await Promise.all([...saved, idle]);
    assert.deepEqual(scene.sealed, [['a', 'b'], ['c'], ['d']]);
  });

  test('wait for their own moment where a commit was under way when they came', async () => {
    const scene = new Scene();
    const saved = [scene.put('a')];
    const first = await scene.batch(1);
    saved.push(patiently(scene, 'b'));
    first.finish();
    await nextTurn();
    assert.equal(scene.store.batches.length, 1);
    saved.push(scene.put('c'));
    (await scene.batch(2)).finish();
    await Promise.all(saved);
    assert.deepEqual(scene.sealed, [['a'], ['b', 'c']]);
  });

  test('do not keep a step waiting that is refused behind them', async () => {
    const scene = new Scene();
    const saved = patiently(scene, 'a');
    const refused = scene.commits.submit(() => {
      throw new Error('refused');
    });
    (await scene.batch(1)).finish();
    await assert.rejects(refused, /refused/);
    await saved;
  });
});
