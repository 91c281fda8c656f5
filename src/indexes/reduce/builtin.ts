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

export const namesBuiltin = (source: string): boolean => source.trimStart().startsWith('_');

/** Those that CouchDB has only since its version 3.5: a setting allows them. */
export const isRecentBuiltin = (source: string): boolean => /^_(first|last|top_|bottom_)/.test(source.trim());

function foldOf(name: string): Fold<never> | undefined {
  if (name.startsWith('_sum')) return sumFold as Fold<never>;
  if (name.startsWith('_count')) return countFold as Fold<never>;
  if (name.startsWith('_stats')) return statsFold as Fold<never>;
  if (name.startsWith('_approx_count_distinct')) return distinctFold as Fold<never>;
  if (name === '_first') return endFold('first') as Fold<never>;
  if (name === '_last') return endFold('last') as Fold<never>;
  const extremes = /^_(top|bottom)_(\d{1,3})$/.exec(name);
  const most = Number(extremes?.[2]);
  if (extremes === null || most < 1 || most > extremesMax) return undefined;
  return extremesFold(extremes[1] as 'top' | 'bottom', most) as Fold<never>;
}
