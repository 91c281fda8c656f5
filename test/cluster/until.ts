import assert from 'node:assert/strict';

/** Waits for a condition; fails where it does not come true in time. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  limitMs = 90_000,
  everyMs = 50,
): Promise<void> {
  for (const end = Date.now() + limitMs; !(await holds());) {
    assert.ok(Date.now() < end, `it did not happen within ${limitMs / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
