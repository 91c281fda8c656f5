import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { emitted, mapped, newHost } from './scene.js';

const endless = ['function(doc){ for (;;); }'];
const plain = ['function(doc){ emit(doc._id) }'];
const doc = { _id: 'a' };

async function latency(host: ReturnType<typeof newHost>['host'], space: string): Promise<number> {
  const began = performance.now();
  await mapped(host, plain, [doc], { space });
  return performance.now() - began;
}

describe('a database whose functions never end', () => {
  test('leaves threads to the others', async () => {
    const { host } = newHost({ threads: 2, timeoutMs: () => 1_500 });
    await latency(host, 'warm');
    const attack = Array.from({ length: 10 }, () => mapped(host, endless, [doc], { space: 'bad' }));
    const outcomes = Promise.allSettled(attack);
    const times: number[] = [];
    for (let i = 0; i < 20; i++) times.push(await latency(host, `good ${i % 3}`));
    // The slowest may have waited for a thread to start.
    const middle = times.sort((a, b) => a - b)[10]!;
    assert.ok(middle < 500, times.join());
    for (const outcome of await outcomes) assert.equal(outcome.status, 'rejected');
  });

  test('and all its calls fail soon, also those that wait', async () => {
    const { host } = newHost({ threads: 2, timeoutMs: () => 500 });
    const began = performance.now();
    const attack = Array.from({ length: 50 }, () => mapped(host, endless, [doc], { space: 'bad' }));
    for (const outcome of await Promise.allSettled(attack)) assert.equal(outcome.status, 'rejected');
    assert.ok(performance.now() - began < 3_000);
  });
});

test('many databases with endless functions do not keep others waiting for long', async () => {
  const { host } = newHost({ threads: 2, timeoutMs: () => 2_000 });
  await latency(host, 'warm');
  const attack = Promise.allSettled(
    Array.from({ length: 3 }, (_, n) => mapped(host, endless, [doc], { space: `bad ${n}` })),
  );
  assert.ok((await latency(host, 'good')) < 1_900);
  await attack;
});

test('databases take turns', async () => {
  const { host } = newHost({ threads: 1 });
  const order: string[] = [];
  const run = async (space: string) => {
    await mapped(host, plain, [doc], { space });
    order.push(space);
  };
  await run('first');
  order.length = 0;
  await Promise.all([...Array.from({ length: 30 }, () => run('busy')), run('other')]);
  assert.ok(order.indexOf('other') < 15, order.join());
});

test('what waits is bounded', async () => {
  const { host } = newHost({ threads: 1, timeoutMs: () => 400 });
  const attack = Array.from({ length: 1_500 }, () => mapped(host, endless, [doc], { space: 'bad' }));
  const outcomes = await Promise.allSettled(attack);
  const refused = outcomes.filter(
    (each) =>
      each.status === 'rejected' && (each.reason as { error: string }).error === 'service_unavailable',
  );
  assert.ok(refused.length >= 400, String(refused.length));
});

test('a closed host refuses, and lets go of what runs', async () => {
  const { host } = newHost({ timeoutMs: () => 30_000 });
  const running = assert.rejects(emitted(host, 'function(doc){ for (;;); }'), {
    error: 'service_unavailable',
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await host.close();
  await running;
  await assert.rejects(emitted(host, plain[0]!), { error: 'service_unavailable' });
});
