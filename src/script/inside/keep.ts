import type { Core } from './core.js';

/** Copies an emitted value so that user code cannot change it, if that is cheap; else returns it as is. */
export type Keep = (value: unknown) => unknown;

export function makeKeep({ isArray }: Core): Keep {
  const copiedMax = 16;
  return (value) => {
    if (typeof value === 'bigint') throw new TypeError('BigInt values have no form in JSON');
    if (!isArray(value) || value.length > copiedMax) return value;
    if ((value as { toJSON?: unknown }).toJSON !== undefined) return value;
    // A short array without objects in it, as most keys are.
    const copy: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      const each: unknown = value[i];
      if ((typeof each === 'object' && each !== null) || typeof each === 'bigint') return value;
      copy[i] = each;
    }
    return copy;
  };
}
