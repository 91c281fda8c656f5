/** Tells terms that a pattern with `*` and `?` stands for; a backslash takes the meaning off what follows it. */
export interface TermPattern {
  /** What every term begins with. */
  prefix: string;
  /** Whether nothing but the prefix is asked for. */
  isPrefix: boolean;
  matches: (term: string) => boolean;
}

const anyRun = Symbol('*');
const anyOne = Symbol('?');
type Part = string | typeof anyRun | typeof anyOne;

export function wildcardPattern(text: string): TermPattern {
  const parts: Part[] = [];
  for (let i = 0; i < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(i)!);
    i += character.length;
    if (character === '*') {
      if (parts.at(-1) !== anyRun) parts.push(anyRun);
    } else if (character === '?') parts.push(anyOne);
    else if (character === '\\' && i < text.length) {
      const next = String.fromCodePoint(text.codePointAt(i)!);
      i += next.length;
      parts.push(next);
    } else parts.push(character);
  }
  const first = parts.findIndex((part) => typeof part !== 'string');
  const prefix = parts.slice(0, first < 0 ? parts.length : first).join('');
  const isPrefix = first === parts.length - 1 && parts[first] === anyRun;
  return { prefix, isPrefix, matches: (term) => fits(parts, [...term]) };
}

/** Goes back to the last `*` only, so that the time is bounded by the product of the lengths. */
function fits(parts: readonly Part[], letters: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  let i = 0;
  while (i < letters.length) {
    const part = parts[at];
    if (part === anyRun) {
      star = at++;
      resumeAt = i;
    } else if (part !== undefined && (part === anyOne || part === letters[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resumeAt;
    } else return false;
  }
  while (parts[at] === anyRun) at++;
  return at === parts.length;
}

/** The number of letters to change, add, remove or swap with a neighbour; `max + 1` where there are more than `max`. */
export function editDistance(a: readonly string[], b: readonly string[], max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, before[j - 2]! + 1);
      next.push(cost);
      least = Math.min(least, cost);
    }
    if (least > max) return max + 1;
    [before, row] = [row, next];
  }
  return Math.min(row[b.length]!, max + 1);
}
