/** CouchDB's order of JSON values: null, false, true, numbers, texts, arrays, objects; texts in the order of ICU. */
const collator = new Intl.Collator('und');

export const compareText = (a: string, b: string): number => (a === b ? 0 : collator.compare(a, b));

const nullRank = 0;
const falseRank = 1;
const trueRank = 2;
export const numberRank = 3;
export const textRank = 4;
const arrayRank = 5;
const objectRank = 6;

export function rankOf(value: unknown): number {
  if (typeof value === 'string') return textRank;
  if (typeof value === 'number') return numberRank;
  if (value === null) return nullRank;
  if (typeof value === 'boolean') return value ? trueRank : falseRank;
  return Array.isArray(value) ? arrayRank : objectRank;
}

/** Objects differ by the order of their members, too: members are compared one after the other, name before value. */
export function compareJson(a: unknown, b: unknown): number {
  const rank = rankOf(a);
  const ranks = rank - rankOf(b);
  if (ranks !== 0) return ranks;
  if (rank === numberRank) return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
  if (rank === textRank) return compareText(a as string, b as string);
  if (rank === arrayRank) return compareArrays(a as unknown[], b as unknown[]);
  return rank === objectRank ? compareObjects(a as JsonObject, b as JsonObject) : 0;
}

type JsonObject = Readonly<Record<string, unknown>>;

function compareArrays(a: readonly unknown[], b: readonly unknown[]): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const order = compareJson(a[at], b[at]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareObjects(a: JsonObject, b: JsonObject): number {
  const names = Object.keys(a);
  const others = Object.keys(b);
  for (let at = 0; at < names.length && at < others.length; at++) {
    const order = compareText(names[at]!, others[at]!) || compareJson(a[names[at]!], b[others[at]!]);
    if (order !== 0) return order;
  }
  return names.length - others.length;
}
