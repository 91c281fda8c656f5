import assert from 'node:assert/strict';
import type { Answer } from './http-client.js';

/** A revision that the server made: `N-hash`. */
export const revOf = (generation: number): RegExp => new RegExp(`^${generation}-[0-9a-f]{32}$`);

/** An error has a status, a name and a reason in words, and is JSON. */
export function assertRefused(answer: Answer, status: number, error?: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(typeof answer.body?.error, 'string', answer.text);
  assert.equal(typeof answer.body.reason, 'string', answer.text);
  if (error !== undefined) assert.equal(answer.body.error, error);
}

/** What a hostile request gets: a refusal, or a harmless success, but no failure of the server. */
export function assertNoFailure(answer: Answer, what: string): void {
  assert.ok(answer.status !== 500, `${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
}

export function assertOk(answer: Answer, status: number): void {
  assert.equal(answer.status, status, answer.text);
}

/** The types of members, by dotted name: `string`, `number`, `boolean`, `object`, `array` or `null`. */
export function assertTypes(value: unknown, types: Record<string, string>): void {
  for (const [path, type] of Object.entries(types)) {
    const found = path
      .split('.')
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
    assert.equal(typeName(found), type, `${path} is ${JSON.stringify(found)}`);
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
