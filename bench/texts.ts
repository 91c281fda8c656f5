import { randomNumbers } from './documents.js';

/** Texts for search: words of a made-up language, some of them in most texts, most of them in few, as in a natural one. */
const syllables = 'ba ke li mo nu ra se ti vo zu dar fen gil hom jur pek qua ster tion wex'.split(' ');
const wordsCount = 50_000;
const wordsOfText = 150;

function wordOf(number: number): string {
  let word = '';
  for (let rest = number + syllables.length; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length]!;
  return word;
}

/** About 1 KB each; the same for the same number. */
export function makeTexts(count: number): string[] {
  const random = randomNumbers(11);
  const word = (): string => wordOf(Math.floor(wordsCount ** random()) - 1);
  return Array.from({ length: count }, () => Array.from({ length: wordsOfText }, word).join(' '));
}

/** Pairs of words that stand in about 2 to 20 of a hundred texts. */
export function makeWordPairs(count: number): [string, string][] {
  const random = randomNumbers(12);
  const word = (): string => wordOf(50 + Math.floor(500 * random()));
  return Array.from({ length: count }, () => [word(), word()]);
}
