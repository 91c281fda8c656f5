import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openAdmin } from '../support/admin-page.js';
import { missingBrowser } from '../support/browser.js';

const skip = missingBrowser() ?? false;
const databaseCount = 100_000;
const documentCount = 1_000_000;
const inFlight = 50;
/** Bytes as they are sent, compressed. */
const firstLoadMax = 300_000;
const interactiveMsMax = 1_000;
const heapGrowthMax = 50_000_000;
const waitMs = 120_000;

test('the first visit loads little and can be used at once', { skip }, async (t) => {
  const { page, url } = await openAdmin(t, { isLoggedIn: false });
  await page.goto(url, { waitUntil: 'commit' });
  await page.getByLabel('Password').waitFor();
  const [bytes, ms] = (await page.evaluate(`[
    performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
      .reduce((sum, { transferSize }) => sum + transferSize, 0),
    performance.now(),
  ]`)) as [number, number];
  console.log(`first visit: ${bytes} bytes, login form after ${Math.round(ms)} ms`);
  assert.ok(bytes < firstLoadMax);
  assert.ok(ms < interactiveMsMax);
});

test('a hundred thousand databases scroll', { skip }, async (t) => {
  const { page, client, go } = await openAdmin(t);
  for (let at = 0; at < databaseCount; at += inFlight) {
    const numbers = Array.from({ length: inFlight }, (_, n) => String(at + n).padStart(6, '0'));
    await Promise.all(numbers.map((number) => client.put(`/many-${number}?q=1`)));
  }
  await go('?find=many');
  const started = performance.now();
  await page.reload();
  await page.getByText('100,000 databases', { exact: true }).waitFor({ timeout: waitMs });
  console.log(`100,000 databases: listed after ${Math.round(performance.now() - started)} ms`);
  await assertScrolls(page);
});

test('a million documents scroll', { skip }, async (t) => {
  const { page, client, go } = await openAdmin(t);
  await client.put('/large?q=1');
  for (let at = 0; at < documentCount; at += 10_000) {
    const docs = Array.from({ length: 10_000 }, (_, n) => ({ _id: `d${at + n}`, n: at + n }));
    await client.post('/large/_bulk_docs', { docs });
  }
  await go('db/large');
  await page.getByText('1,000,000 documents').waitFor({ timeout: waitMs });
  await assertScrolls(page);
});

/** Scrolls from the first to the last row in 200 steps, each a frame. */
async function assertScrolls(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const before = await heap();
  const frames = (await page.evaluate(`(async () => {
    const rows = document.querySelector('.virtual-body');
    const frames = [];
    let last = performance.now();
    for (let step = 0; step <= 200; step++) {
      rows.scrollTop = rows.scrollHeight * step / 200;
      await new Promise(requestAnimationFrame);
      frames.push(performance.now() - last);
      last = performance.now();
    }
    return frames.sort((a, b) => a - b);
  })()`)) as number[];
  const growth = (await heap()) - before;
  const [median, slow] = [frames[100]!, frames[190]!].map((ms) => ms.toFixed(1));
  console.log(`  frames: median ${median} ms, 95 of 100 within ${slow} ms; heap grew by ${growth} bytes`);
  assert.ok(growth < heapGrowthMax);
}
