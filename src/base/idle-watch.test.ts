import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { IdleWatch } from './idle-watch.js';
import { SystemRuntime } from './runtime.js';

/** The watch's own timer does not keep a process alive. */
const alive = setInterval(() => undefined, 1_000);
after(() => clearInterval(alive));

interface Transfer {
  bytes: number | undefined;
  isWaiting: boolean;
}

const transfer = (bytes: number | undefined = 0): Transfer => ({ bytes, isWaiting: true });

function watchOf(idleMs: number): { watch: IdleWatch<Transfer>; idle: Transfer[]; looks: Transfer[] } {
  const idle: Transfer[] = [];
  const looks: Transfer[] = [];
  const rules = {
    idleMs: () => idleMs,
    bytesOf: (each: Transfer) => {
      looks.push(each);
      return each.bytes;
    },
    isWaiting: (each: Transfer) => each.isWaiting,
    onIdle: (each: Transfer) => void idle.push(each),
  };
  return { watch: new IdleWatch(rules, new SystemRuntime()), idle, looks };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue(); tries++) {
    assert.ok(tries < 1_000, 'it takes too long');
    await sleep(5);
  }
}

describe('A watch of transfers', () => {
  test('gives up those that have stopped, once, and no others', async () => {
    const { watch, idle } = watchOf(60);
    const [stopped, moving, resting] = [transfer(), transfer(), { ...transfer(), isWaiting: false }];
    for (const each of [stopped, moving, resting]) watch.add(each);
    const mover = setInterval(() => moving.bytes!++, 1);
    await until(() => idle.length > 0);
    await sleep(100);
    clearInterval(mover);
    assert.deepEqual(idle, [stopped]);
  });

  test('looks once at a transfer that ends in the turn in which it begins', async () => {
    const { watch, looks } = watchOf(40);
    const [ended, open] = [transfer(), { ...transfer(), isWaiting: false }];
    watch.add(ended);
    watch.add(open);
    ended.bytes = undefined;
    await until(() => looks.filter((each) => each === open).length > 2);
    assert.equal(looks.filter((each) => each === ended).length, 1);
  });

  test('forgets what is deleted, in the same turn or later', async () => {
    const { watch, idle } = watchOf(40);
    const [first, second, third] = [transfer(), transfer(), transfer()];
    for (const each of [first, second, third]) watch.add(each);
    watch.delete(first);
    await nextTurn();
    await nextTurn();
    watch.delete(second);
    await until(() => idle.length > 0);
    await sleep(60);
    assert.deepEqual(idle, [third]);
  });

  test('watches those that come after all others are gone', async () => {
    const { watch, idle } = watchOf(40);
    const [first, second] = [transfer(), transfer()];
    watch.add(first);
    watch.delete(first);
    await sleep(100);
    watch.add(second);
    await until(() => idle.length > 0);
    assert.deepEqual(idle, [second]);
  });
});
