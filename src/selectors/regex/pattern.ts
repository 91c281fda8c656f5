import type { CharSet } from './char-set.js';

/** What a pattern is made of. Groups leave no trace: only whether a text matches is asked, never which part of it. */
export type Pattern =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly item: Pattern; readonly min: number; readonly max: number }
  | { readonly kind: 'place'; readonly place: Place }
  | { readonly kind: 'look'; readonly behind: boolean; readonly negated: boolean; readonly item: Pattern };

/** Conditions on a place between two characters. */
export type Place =
  | 'text start'
  | 'line start'
  | 'line end'
  | 'text end'
  /** The end, or before a line feed that is the last character. */
  | 'end'
  | 'word edge'
  | 'no word edge';

/** How many characters a pattern takes, where all its matches are of one length. */
export function fixedLength(pattern: Pattern): number | undefined {
  switch (pattern.kind) {
    case 'set':
      return 1;
    case 'place':
    case 'look':
      return 0;
    case 'sequence': {
      let length = 0;
      for (const item of pattern.items) {
        const each = fixedLength(item);
        if (each === undefined) return undefined;
        length += each;
      }
      return length;
    }
    case 'choice': {
      const [first, ...rest] = pattern.items.map(fixedLength);
      return rest.every((length) => length === first) ? first : undefined;
    }
    case 'repeat': {
      const each = fixedLength(pattern.item);
      return each !== undefined && pattern.min === pattern.max ? each * pattern.min : undefined;
    }
  }
}
