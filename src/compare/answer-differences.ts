import type { CanonicalAnswer } from './canonical.js';

/** A place where two answers differ. */
export interface Difference {
  /** `status`, `headers.allow`, `body.rows[].key`, … */
  member: string;
  reference: unknown;
  subject: unknown;
}

/** Where two answers differ, the status first. */
export function answerDifferences(reference: CanonicalAnswer, subject: CanonicalAnswer): Difference[] {
  const found: Difference[] = [];
  if (reference.status !== subject.status)
    found.push({ member: 'status', reference: reference.status, subject: subject.status });
  compare('headers', reference.headers, subject.headers, found);
  compare('body', reference.body, subject.body, found);
  return found;
}

function compare(member: string, reference: unknown, subject: unknown, found: Difference[]): void {
  if (isObject(reference) && isObject(subject)) {
    for (const name of new Set([...Object.keys(reference), ...Object.keys(subject)]))
      compare(`${member}.${name}`, reference[name], subject[name], found);
  } else if (Array.isArray(reference) && Array.isArray(subject) && reference.length === subject.length) {
    reference.forEach((each, at) => compare(`${member}[]`, each, subject[at], found));
  } else if (JSON.stringify(reference) !== JSON.stringify(subject)) {
    found.push({ member, reference, subject });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
