import { intendedDifferences } from './differences.js';
import type { IntendedDifference } from './intended-difference.js';

/** The list of intended differences for `docs/compatibility.md`: one paragraph for those that differ only in the endpoint. */
export function differencesPage(): string {
  const paragraphs = new Map<string, string[]>();
  for (const difference of intendedDifferences) {
    const head = headOf(difference);
    paragraphs.set(head, [...(paragraphs.get(head) ?? []), difference.endpoint]);
  }
  return [...paragraphs]
    .map(([head, endpoints]) => `- ${head}\n  ${endpoints.map((each) => `\`${each}\``).join(', ')}\n`)
    .join('');
}

function headOf(difference: IntendedDifference): string {
  const { member, with: parameter, compound, containing, couchdb, tuffet, reason } = difference;
  const named =
    parameter === undefined ? '' : `${compound ? ' with a list or an object as ' : ' with '}\`${parameter}\``;
  const condition = named + (containing === undefined ? '' : ` with \`${containing}\` in the body`);
  return `**\`${member}\`${condition}**: CouchDB ${couchdb}, Tuffet ${tuffet}. ${reason}`;
}
