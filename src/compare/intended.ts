import type { Difference } from './answer-differences.js';
import { intendedDifferences } from './differences.js';
import type { IntendedDifference } from './intended-difference.js';
import type { CompareRequest } from './request.js';

/** Whether a difference is in the list. */
export function isIntended(request: CompareRequest, found: Difference): boolean {
  return intendedDifferences.some(
    (each) =>
      each.endpoint === request.endpoint &&
      (each.with === undefined || uses(request, each.with)) &&
      covers(each, found),
  );
}

function covers({ member, couchdb, tuffet }: IntendedDifference, found: Difference): boolean {
  if (member === 'status') {
    const fits = typeof couchdb === 'string' || found.reference === couchdb;
    return found.member === member && fits && found.subject === tuffet;
  }
  const names = member.split('.');
  const foundNames = found.member.split('.');
  return (
    names.length === foundNames.length &&
    names.every((name, at) => name === '{docid}' || name === foundNames[at])
  );
}

function uses({ path, parameter, body }: CompareRequest, name: string): boolean {
  if (parameter === name || new RegExp(`[?&]${name}(?:[=&]|$)`).test(path)) return true;
  return hasMember(body, name.split('.'));
}

function hasMember(value: unknown, [name, ...below]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  return hasMember((value as Record<string, unknown>)[name], below);
}
