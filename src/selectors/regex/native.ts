/**
 * JavaScript's own expressions are many times faster, but go back and try again: a pattern with several repetitions takes
 * a power of the text's length, a nested one may never end. They are used where the worst that can happen is known to be
 * small, which is so for most patterns on most texts.
 */
import type { Pattern, Place } from './pattern.js';

/** About two milliseconds. */
const triesMax = 1_000_000;

export interface Native {
  readonly expression: RegExp;
  /** On longer texts it might take too long. */
  readonly lengthMax: number;
}

export function nativeFor(pattern: Pattern): Native | undefined {
  const cost = costOf(pattern);
  if (cost === undefined || cost.factor > triesMax) return undefined;
  const power = cost.loops + (startsAtStart(pattern) ? 0 : 1);
  const lengthMax = power === 0 ? Infinity : (triesMax / cost.factor) ** (1 / power);
  if (lengthMax < 8) return undefined;
  return { expression: new RegExp(sourceOf(pattern), 'u'), lengthMax };
}

interface Cost {
  /** Repetitions without end: each multiplies the tries by the text's length. */
  readonly loops: number;
  /** Other choices, multiplied. */
  readonly factor: number;
}

/** Undefined where it can't be told. */
function costOf(pattern: Pattern): Cost | undefined {
  switch (pattern.kind) {
    case 'set':
    case 'place':
      return { loops: 0, factor: 1 };
    case 'look':
      return undefined;
    case 'sequence':
    case 'choice': {
      let loops = 0;
      // Nothing, as between the brackets of `()`, is one thing to try.
      let factor = Math.max(1, pattern.items.length);
      for (const item of pattern.items) {
        const cost = costOf(item);
        if (cost === undefined) return undefined;
        loops += cost.loops;
        factor *= cost.factor;
      }
      return { loops, factor };
    }
    case 'repeat': {
      const item = costOf(pattern.item);
      if (item === undefined) return undefined;
      const isFixed = item.loops === 0 && item.factor <= lengthOf(pattern.item);
      if (pattern.max === Infinity)
        return isFixed ? { loops: 1, factor: item.factor * (pattern.min + 1) } : undefined;
      if (!isFixed) return pattern.max <= 1 ? { loops: item.loops, factor: item.factor * 2 } : undefined;
      return { loops: 0, factor: item.factor * (pattern.max + 1) };
    }
  }
}

/** The number of characters in a plain sequence, which is the factor of one that holds no choice. */
function lengthOf(pattern: Pattern): number {
  return pattern.kind === 'sequence' && pattern.items.every(({ kind }) => kind === 'set' || kind === 'place')
    ? pattern.items.length
    : 1;
}

function startsAtStart(pattern: Pattern): boolean {
  if (pattern.kind === 'place') return pattern.place === 'text start';
  if (pattern.kind === 'sequence') return pattern.items[0] !== undefined && startsAtStart(pattern.items[0]);
  return pattern.kind === 'choice' && pattern.items.every(startsAtStart);
}

function sourceOf(pattern: Pattern): string {
  switch (pattern.kind) {
    case 'set':
      return pattern.set.source;
    case 'place':
      return places[pattern.place];
    case 'sequence':
      return pattern.items.map(sourceOf).join('');
    case 'choice':
      return `(?:${pattern.items.map(sourceOf).join('|')})`;
    case 'repeat':
      return `(?:${sourceOf(pattern.item)}){${pattern.min},${pattern.max === Infinity ? '' : pattern.max}}`;
    case 'look':
      throw new Error('looking around has no native form');
  }
}

const places: Readonly<Record<Place, string>> = {
  'text start': '^',
  'line start': '(?<![^\\n])',
  'line end': '(?![^\\n])',
  'text end': '$',
  end: '(?=\\n?$)',
  'word edge': '\\b',
  'no word edge': '\\B',
};
