import { intendedDifferences } from './differences.js';
import type { IntendedDifference } from './intended-difference.js';

/** The members that differ in the same way, at the same endpoints and under the same conditions. */
interface Place {
  answers: string;
  members: readonly string[];
  conditions: readonly string[];
  endpoints: readonly string[];
}

/**
 * The list of intended differences for `docs/compatibility.md`: one paragraph for each reason, with the places where it
 * applies. What is printed is exactly what the list has: members, conditions and endpoints share a line only where every
 * combination of them is an entry.
 */
export function differencesPage(): string {
  return [...groupBy(intendedDifferences, ({ reason }) => reason)]
    .map(([reason, differences]) => `- ${reason}\n${placesOf(differences).map(lineOf).join('')}`)
    .join('');
}

function placesOf(differences: readonly IntendedDifference[]): Place[] {
  const single = differences.map((difference) => ({
    answers: `CouchDB: ${String(difference.couchdb)}. Tuffet: ${String(difference.tuffet)}.`,
    members: [difference.member],
    conditions: [conditionOf(difference)],
    endpoints: [difference.endpoint],
  }));
  return merge(merge(merge(single, 'members'), 'conditions'), 'endpoints');
}

/** Puts places together that differ in one respect only. */
function merge(places: readonly Place[], respect: Exclude<keyof Place, 'answers'>): Place[] {
  const alike = groupBy(places, (place) => JSON.stringify({ ...place, [respect]: undefined }));
  return [...alike.values()].map(([first, ...others]) => ({
    ...first,
    [respect]: [...new Set([...first[respect], ...others.flatMap((place) => place[respect])])],
  }));
}

function lineOf({ answers, members, conditions, endpoints }: Place): string {
  const condition = conditions.filter((each) => each !== '').join(' or ');
  return `  - ${answers} ${code(members)}${condition === '' ? '' : ` with ${condition}`}: ${code(endpoints)}\n`;
}

function conditionOf({ with: parameter, compound, containing }: IntendedDifference): string {
  const named = parameter === undefined ? '' : `${compound ? 'a list or an object as ' : ''}\`${parameter}\``;
  if (containing === undefined) return named;
  const text = `\`${containing}\` in the body`;
  return named === '' ? text : `${named} and ${text}`;
}

function code(texts: readonly string[]): string {
  return texts.map((each) => `\`${each}\``).join(', ');
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, [T, ...T[]]> {
  const groups = new Map<string, [T, ...T[]]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
