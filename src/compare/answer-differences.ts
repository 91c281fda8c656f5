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
  } else if (Array.isArray(reference) && Array.isArray(subject) && areAlike(reference, subject)) {
    reference.forEach((each, at) => compare(`${member}[]`, each, subject[at], found));
  } else if (JSON.stringify(reference) !== JSON.stringify(subject)) {
    found.push({ member, reference, subject });
  }
}

/** Lists of other documents differ as a whole. */
function areAlike(reference: readonly unknown[], subject: readonly unknown[]): boolean {
  return (
    reference.length === subject.length && reference.every((each, at) => idOf(each) === idOf(subject[at]))
  );
}

const idOf = (value: unknown): unknown => (isObject(value) ? value._id : undefined);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
