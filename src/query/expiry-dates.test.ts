import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expiryMs } from './expiry-dates.js';

test('dates are UTC texts as JSON has them, seconds below 10^11, milliseconds from there', () => {
  assert.equal(expiryMs('2026-11-16T08:00:00.250Z'), Date.UTC(2026, 10, 16, 8, 0, 0, 250));
  assert.equal(expiryMs('2026-11-16T08:00:00Z'), Date.UTC(2026, 10, 16, 8));
  assert.equal(expiryMs(1_800_000_000), 1_800_000_000_000);
  assert.equal(expiryMs(1_800_000_000_000), 1_800_000_000_000);
  assert.equal(expiryMs(0.5), 500);
});

test('everything else is no date', () => {
  const texts = [
    '',
    '2026',
    '2026-11-16',
    '2026-11-16T08:00:00',
    '2026-11-16T08:00:00+01:00',
    '2026-02-30T25:00:00Z',
  ];
  for (const value of [...texts, 0, -1, null, undefined, true, {}, [], ['2026-11-16T08:00:00Z']])
    assert.equal(expiryMs(value), undefined, String(value));
});
