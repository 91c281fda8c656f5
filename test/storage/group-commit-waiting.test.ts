import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asBytes } from '../../src/base/bytes.js';
import { unfinished } from '../../src/storage/group-commit.js';
import { Scene } from './scene.js';

const batchBytesMax = 32 * 1024 * 1024;
const large = asBytes('x'.repeat(batchBytesMax));

describe('hold', () => {
  test('lets what has begun reach the disk, and keeps the rest waiting for its work', async () => {
    const scene = new Scene();
    const saved = [scene.put('before')];
    let endWork!: () => void;
    const holding = scene.commits.runExclusive(async () => {
      scene.events.push('work');
      await new Promise<void>((resolve) => (endWork = resolve));
      return 'its result';
    });
    saved.push(scene.put('after-1'), scene.put('after-2'));
    (await scene.batch(1)).finish();
    await nextTurn();
    assert.deepEqual(scene.events, ['ran before', 'told of before', 'saved before', 'work']);
    await nextTurn();
    assert.equal(scene.store.batches.length, 1, 'nothing is committed during the work');
    endWork();
    assert.equal(await holding, 'its result');
    (await scene.batch(2)).finish();
    await Promise.all(saved);
    assert.deepEqual(scene.sealed, [['before'], ['after-1', 'after-2']]);
  });

  test('ends when its work fails', async () => {
    const scene = new Scene();
    const holding = scene.commits.runExclusive(() => Promise.reject(new Error('no room')));
    const saved = scene.put('a');
    await assert.rejects(holding, /no room/);
    (await scene.batch(1)).finish();
    await saved;
    assert.equal(scene.store.get(asBytes('a')), '1');
  });

  test('is given to one at a time', async () => {
    const scene = new Scene();
    let working = 0;
    const work = async (n: number): Promise<number> => {
      assert.equal(++working, 1);
      await nextTurn();
      working--;
      return n;
    };
    const holds = [1, 2, 3].map((n) => scene.commits.runExclusive(() => work(n)));
    assert.deepEqual(await Promise.all(holds), [1, 2, 3]);
  });
});

describe('runBetweenCommits', () => {
  test('runs at once when nothing is on its way to the disk', () => {
    const scene = new Scene();
    let ran = false;
    void scene.commits.runBetweenCommits(() => (ran = true));
    assert.ok(ran);
  });

  test('waits for the batch on its way, of which readers have been told by then', async () => {
    const scene = new Scene();
    const saved = [scene.put('a')];
    const batch = await scene.batch(1);
    saved.push(scene.put('b'));
    const quiet = scene.commits.runBetweenCommits(() => {
      scene.events.push(
        `quiet with ${[...scene.store.keys({ start: asBytes('a'), end: asBytes('z') })].join()}`,
      );
    });
    await nextTurn();
    assert.deepEqual(scene.events, ['ran a', 'ran b']);
    batch.finish();
    await quiet;
    const [told, ...rest] = scene.events.slice(2);
    assert.equal(told, 'told of a');
    assert.ok(rest.includes('quiet with a'), rest.join('; '));
    (await scene.batch(2)).finish();
    await Promise.all(saved);
  });

  test('tells of its own failure, and disturbs nobody else', async () => {
    const scene = new Scene();
    const saved = scene.put('a');
    const batch = await scene.batch(1);
    const quiet = scene.commits.runBetweenCommits(() => {
      throw new Error('a broken reader');
    });
    batch.finish();
    await assert.rejects(quiet, /a broken reader/);
    await saved;
    const later = scene.put('b');
    (await scene.batch(2)).finish();
    await later;
  });
});

describe('whenIdle', () => {
  test('resolves at once when there is nothing, and otherwise with the last batch', async () => {
    const scene = new Scene();
    await scene.commits.whenIdle();
    const saved = [scene.put('a')];
    const first = await scene.batch(1);
    saved.push(scene.put('b'));
    const drained = scene.commits.whenIdle().then(() => scene.events.push('drained'));
    first.finish();
    const second = await scene.batch(2);
    assert.ok(!scene.events.includes('drained'));
    second.finish();
    await Promise.all([drained, ...saved]);
    assert.equal(scene.store.get(asBytes('b')), '1');
  });
});

describe('a batch that has reached its bound', () => {
  test('takes no more steps: they wait for the next', async () => {
    const scene = new Scene();
    const saved = ['large', 'b', 'c'].map((key) => scene.put(key, key === 'large' ? large : '1'));
    assert.deepEqual(scene.events, ['ran large']);
    (await scene.batch(1)).finish();
    (await scene.batch(2)).finish();
    await Promise.all(saved);
    assert.deepEqual(scene.sealed, [['large'], ['b', 'c']]);
  });

  test('may follow another such batch', async () => {
    const scene = new Scene();
    const saved = ['large-1', 'large-2', 'c'].map((key) => scene.put(key, key === 'c' ? '1' : large));
    for (const count of [1, 2, 3]) (await scene.batch(count)).finish();
    await Promise.all(saved);
    assert.deepEqual(scene.sealed, [['large-1'], ['large-2'], ['c']]);
  });

  test('lets the waiting steps go on when the store refuses it', async () => {
    const scene = new Scene();
    const outcomes = [scene.put('large', large), scene.put('b')];
    (await scene.batch(1)).fail();
    (await scene.batch(2)).finish();
    await Promise.all(outcomes);
    assert.ok(scene.events.includes('lost large: the disk is full'));
    assert.ok(scene.events.includes('saved b'));
    assert.equal(scene.store.get(asBytes('large')), undefined);
    assert.equal(scene.store.get(asBytes('b')), '1');
  });

  test('changes nothing in the order of the steps', async () => {
    const scene = new Scene();
    const saved = [scene.put('large', large), scene.put('waiting')];
    const first = await scene.batch(1);
    saved.push(scene.put('later'));
    first.finish();
    for (let count = 2; scene.events.filter((event) => event.startsWith('saved')).length < 3; count++) {
      (await scene.batch(count)).finish();
      for (let turns = 0; turns < 3; turns++) await nextTurn();
    }
    await Promise.all(saved);
    const ran = scene.events.filter((event) => event.startsWith('ran'));
    assert.deepEqual(ran, ['ran large', 'ran waiting', 'ran later']);
  });
});

describe('steps that take long', () => {
  test('wait for the next turn once a turn has had its share, in their order', async () => {
    const scene = new Scene();
    const slow = scene.commits.submit(() => {
      scene.now += 20;
      scene.overlay.put(asBytes('slow'), asBytes('1'));
    });
    const saved = [scene.put('b'), scene.put('c')];
    assert.deepEqual(scene.events, []);
    await nextTurn();
    assert.deepEqual(scene.events, ['ran b', 'ran c']);
    (await scene.batch(1)).finish();
    (await scene.batch(2)).finish();
    await Promise.all([slow, ...saved]);
    assert.deepEqual(scene.sealed, [['slow'], ['b', 'c']]);
  });

  test('are gone on with before others, and resolve when the last part is on disk', async () => {
    const scene = new Scene();
    let parts = 0;
    const inParts = scene.commits.submit(() => {
      scene.now += 20;
      scene.overlay.put(asBytes(`part-${++parts}`), asBytes('1'));
      scene.events.push(`ran part ${parts}`);
      return parts < 3 ? unfinished : 'all of it';
    });
    const other = scene.put('other');
    const drained = scene.commits.whenIdle();
    let isDone = false;
    const done = Promise.all([other, drained]).then(() => (isDone = true));
    for (let finished = 0; !isDone; await nextTurn())
      for (; finished < scene.store.batches.length; finished++) scene.store.batches[finished]!.finish();
    await done;
    assert.deepEqual(
      scene.events.filter((event) => event.startsWith('ran')),
      ['ran part 1', 'ran part 2', 'ran part 3', 'ran other'],
    );
    assert.equal(await inParts, 'all of it');
    assert.equal(scene.store.get(asBytes('other')), '1');
  });

  test('fail as a whole when the store refuses a part, and no other part is run', async () => {
    const scene = new Scene();
    let parts = 0;
    const inParts = scene.commits.submit(() => {
      scene.now += 20;
      scene.overlay.put(asBytes(`part-${++parts}`), large);
      return unfinished;
    });
    (await scene.batch(1)).fail();
    await assert.rejects(inParts, /the disk is full/);
    const other = scene.put('other');
    (await scene.batch(2)).finish();
    await other;
    assert.equal(parts, 1);
  });
});
