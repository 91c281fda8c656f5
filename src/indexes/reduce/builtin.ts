import { countFold } from './count.js';
import { distinctFold } from './distinct.js';
import { endFold, extremesFold } from './extremes.js';
import type { Fold } from './fold.js';
import { statsFold } from './stats.js';
import { sumFold } from './sum.js';

/** The most values that `_top_N` and `_bottom_N` keep. */
const extremesMax = 100;

/** A reduce that begins with an underscore is built in or invalid. What follows the name is ignored. */
export function builtinFold(source: string): Fold<unknown> | undefined {
  const fold = foldOf(source.trim());
  return fold as Fold<unknown> | undefined;
}

export const namesBuiltin = (source: string): boolean => source.startsWith('_');

/** What is wrong with the rank of a `_top_N` or `_bottom_N`, if anything. */
export function rankProblem(source: string): string | undefined {
  const rank = /^_(?:top|bottom)_(.*)$/s.exec(source.trim())?.[1];
  if (rank === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(rank)) return 'The rank of a reduce must be a whole number.';
  if (Number(rank) >= 1 && Number(rank) <= extremesMax) return undefined;
  return `The rank of a reduce must be between 1 and ${extremesMax}.`;
}

function foldOf(name: string): Fold<never> | undefined {
  if (name.startsWith('_sum')) return sumFold as Fold<never>;
  if (name.startsWith('_count')) return countFold as Fold<never>;
  if (name.startsWith('_stats')) return statsFold as Fold<never>;
  if (name.startsWith('_approx_count_distinct')) return distinctFold as Fold<never>;
  if (name.startsWith('_first')) return endFold('first') as Fold<never>;
  if (name.startsWith('_last')) return endFold('last') as Fold<never>;
  const extremes = /^_(top|bottom)_(.*)$/s.exec(name);
  if (extremes === null || rankProblem(name) !== undefined) return undefined;
  return extremesFold(extremes[1] as 'top' | 'bottom', Number(extremes[2])) as Fold<never>;
}
