import type { Difference } from './answer-differences.js';
import { intendedDifferences } from './differences.js';
import type { IntendedDifference } from './intended-difference.js';
import type { CompareRequest } from './request.js';

/** Whether a difference is in the list. */
export function isIntended(request: CompareRequest, found: Difference): boolean {
  return intendedDifferences.some(
    (each) =>
      each.endpoint === request.endpoint &&
      (each.with === undefined || uses(request, each.with, each.compound)) &&
      (each.containing === undefined || JSON.stringify(request.body ?? '').includes(each.containing)) &&
      covers(each, found),
  );
}

function covers({ member, couchdb, tuffet }: IntendedDifference, found: Difference): boolean {
  if (member === 'status') {
    const fits = typeof couchdb === 'string' || found.reference === couchdb;
    return found.member === member && fits && found.subject === tuffet;
  }
  const fits = typeof couchdb === 'string' || found.reference === couchdb;
  return fits && patternOf(member).test(found.member);
}

/** Names of attachments have dots in them. */
function patternOf(member: string): RegExp {
  const escaped = member.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('\\{docid\\}', '[^.]+').replaceAll('\\{attname\\}', '.+')}$`);
}

function uses({ path, parameter, body }: CompareRequest, name: string, compound = false): boolean {
  const value = memberOf(body, name.split('.'));
  if (compound) return typeof value === 'object' && value !== null;
  return parameter === name || new RegExp(`[?&]${name}(?:[=&]|$)`).test(path) || value !== undefined;
}

function memberOf(value: unknown, [name, ...below]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return memberOf((value as Record<string, unknown>)[name], below);
}
