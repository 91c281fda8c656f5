import { compareStrings } from './collation.js';

/**
 * The root collation of ASCII characters, read from `Intl.Collator` once, at start: a weight for each character that
 * counts, the same for both cases of a letter, so that strings of weights have the order of the strings but for case.
 * Most control characters don't count and have no weight.
 */

/** Weights begin behind the bytes that end a string. */
const weightMin = 2;

/** The weight of each ASCII character, 0 where it is ignored. */
export const weights = new Uint8Array(128);

/** 1 for capital letters. */
export const capitals = new Uint8Array(128);

/** The character of a weight, a small letter where there are two. */
export const charactersByWeight: string[] = [];

const counting = Array.from(weights, (_, code) => String.fromCharCode(code))
  .filter((character) => compareStrings(character, '') !== 0)
  .sort(compareStrings);

let weight = weightMin - 1;
for (const character of counting) {
  const code = character.charCodeAt(0);
  const isCapital = character !== character.toLowerCase();
  // A capital letter comes right behind its small one.
  if (!isCapital) charactersByWeight[++weight] = character;
  weights[code] = weight;
  if (isCapital) capitals[code] = 1;
}
