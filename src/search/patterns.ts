/** Tells terms that a pattern with `*` and `?` stands for; a backslash takes the meaning off what follows it. */
export interface TermPattern {
  /** What every term begins with. */
  prefix: string;
  /** Whether nothing but the prefix is asked for. */
  isPrefix: boolean;
  matches: (term: string) => boolean;
}

/** In place of a letter of a pattern. */
const anyOne = -1;

export function wildcardPattern(text: string): TermPattern {
  const runs: number[][] = [[]];
  const letters = lettersOf(text);
  for (let i = 0; i < letters.length; i++) {
    const letter = letters[i]!;
    if (letter === star) runs.push([]);
    else if (letter === questionMark) runs.at(-1)!.push(anyOne);
    else runs.at(-1)!.push(letter === backslash && i + 1 < letters.length ? letters[++i]! : letter);
  }
  const [first, ...rest] = runs.map((run) => Int32Array.from(run));
  const isPlain = first!.indexOf(anyOne) < 0;
  let prefix = '';
  for (const letter of isPlain ? first! : first!.subarray(0, first!.indexOf(anyOne)))
    prefix += String.fromCodePoint(letter);
  const isPrefix = isPlain && rest.length > 0 && rest.every((run) => run.length === 0);
  return { prefix, isPrefix, matches: (term) => fits(first!, rest, lettersOf(term)) };
}

const [star, questionMark, backslash] = Array.from('*?\\', (letter) => letter.codePointAt(0));

/** The code points of a text. */
function lettersOf(text: string): Int32Array {
  const letters = new Int32Array(text.length);
  let count = 0;
  for (let i = 0; i < text.length; count++) {
    const letter = text.codePointAt(i)!;
    letters[count] = letter;
    i += letter > 0xffff ? 2 : 1;
  }
  return letters.subarray(0, count);
}

/**
 * Whether letters have the first run at their start, the last of the rest at their end, and the others between these in their order. Each is
 * looked for once, where it can stand first: the time is bounded by the product of the lengths. That may be millions of steps for one
 * term, during which nothing else runs, so numbers are compared and not strings.
 */
function fits(first: Int32Array, rest: readonly Int32Array[], letters: Int32Array): boolean {
  const last = rest.at(-1);
  if (last === undefined) return letters.length === first.length && isAt(first, letters, 0);
  const end = letters.length - last.length;
  if (end < first.length || !isAt(first, letters, 0) || !isAt(last, letters, end)) return false;
  let at = first.length;
  for (const run of rest.slice(0, -1)) {
    while (at + run.length <= end && !isAt(run, letters, at)) at++;
    at += run.length;
    if (at > end) return false;
  }
  return true;
}

function isAt(run: Int32Array, letters: Int32Array, at: number): boolean {
  let i = 0;
  while (i < run.length && (run[i] === letters[at + i] || run[i] === anyOne)) i++;
  return i === run.length;
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
