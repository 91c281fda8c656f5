import assert from 'node:assert/strict';
import test from 'node:test';
import { SystemRuntime } from '../../src/base/runtime.js';
import { compileInSteps, compileSelector } from '../../src/selectors/selector.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const docs = Array.from({ length: 20 }, (_, n) => ({ _id: `d${n}`, n }));
await client.post(`${db}/_bulk_docs`, { docs });

const ofConditions = (count: number, from = 0): object => ({
  $or: Array.from({ length: count }, (_, at) => ({ n: from + at })),
});

test('a selector of thousands of conditions is read in turns of its own', async (t) => {
  const turns = t.mock.method(SystemRuntime.prototype, 'nextTurn');
  let ms = 0;
  // Each look at the clock finds that a slice is over.
  t.mock.method(SystemRuntime.prototype, 'monotonicMs', () => (ms += 20));
  const find = async (selector: object): Promise<[ids: string[], turns: number]> => {
    const before = turns.mock.callCount();
    const { status, body } = await client.post(`${db}/_find`, { selector, execution_stats: true });
    assert.equal(status, 200, JSON.stringify(body));
    return [body.docs.map(({ _id }: { _id: string }) => _id), turns.mock.callCount() - before];
  };
  const [, few] = await find(ofConditions(10, 100_000));
  const [none, many] = await find(ofConditions(9_000, 100_000));
  assert.deepEqual(none, []);
  assert.ok(many >= few + 5, `${many} turns, and ${few} for a selector of 10 conditions`);
  const [all] = await find(ofConditions(9_000, 5));
  assert.equal(all.length, 15);
});

test('a selector that is read in steps is the same', () => {
  for (const selector of [{}, { a: 1 }, ofConditions(2_000), { $not: ofConditions(1_000), b: { $gt: 1 } }]) {
    const steps = compileInSteps(selector, false);
    let step = steps.next();
    while (!step.done) step = steps.next();
    const { matches: inSteps, ...one } = step.value;
    const { matches, ...other } = compileSelector(selector);
    assert.deepEqual(one, other);
    for (const doc of [{}, { a: 1 }, { n: 7 }, { b: 2 }]) assert.equal(inSteps(doc), matches(doc));
  }
});

test('a large selector is refused as a small one', async () => {
  const wrong = [...Array.from({ length: 2_000 }, (_, n) => ({ n })), { n: { $none: 1 } }];
  for (const selector of [{ $or: wrong }, { $or: wrong.slice(-1) }]) {
    const { status, body } = await client.post(`${db}/_find`, { limit: 'x', selector });
    assert.deepEqual([status, body.error], [400, 'invalid_operator']);
  }
  const modulus = { $or: [...Array.from({ length: 2_000 }, (_, n) => ({ n })), { n: { $mod: [0, 1] } }] };
  const refused = await client.post(`${db}/_find`, { selector: modulus });
  const small = await client.post(`${db}/_find`, { selector: { n: { $mod: [0, 1] } } });
  assert.deepEqual([refused.status, refused.body.error], [small.status, small.body.error]);
  const tooMany = await client.post(`${db}/_find`, { selector: ofConditions(10_001) });
  assert.deepEqual([tooMany.status, tooMany.body.error], [400, 'invalid_selector']);
  const explained = await client.post(`${db}/_explain`, { selector: ofConditions(2_000) });
  assert.equal(explained.body.selector.$or.length, 2_000);
});
