import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

/** Prints how many nanoseconds a call of `process.nextTick` takes at least, after all garbage was collected. */
const measuring = `
  const measure = async () => {
    let least = Infinity;
    for (let round = 0; round < 1000; round++) {
      const from = process.hrtime.bigint();
      for (let i = 0; i < 200; i++) process.nextTick(() => undefined);
      least = Math.min(least, Number(process.hrtime.bigint() - from) / 200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return least;
  };
  for (let i = 0; i < 100; i++) process.nextTick(() => undefined);
  // Later, so that no call is under way that would keep the shape.
  setTimeout(async () => {
    for (let i = 0; i < 4; i++) gc();
    setTimeout(async () => process.stdout.write(String(await measure())), 10);
  }, 10);`;

async function measureWith(preparation: string): Promise<number> {
  const script = preparation + measuring;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--input-type=module',
    '-e',
    script,
  ]);
  return Number(stdout);
}

test('calls of process.nextTick are not slower after garbage was collected', async () => {
  const module = new URL('./runtime.js', import.meta.url).href;
  const kept = await measureWith(`new (await import('${module}')).SystemRuntime();`);
  const least = await measureWith('globalThis.gc = () => undefined;');
  assert.ok(kept < 3 * least, `${kept} ns in place of ${least}`);
});
