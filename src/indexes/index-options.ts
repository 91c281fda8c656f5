/** The options of `index`, as they are given. */
export interface IndexOptions {
  store?: unknown;
  index?: unknown;
  facet?: unknown;
  boost?: unknown;
}

export function isOn(option: unknown, otherwise: boolean): boolean {
  if (typeof option === 'boolean') return option;
  if (typeof option !== 'string') return otherwise;
  return !['no', 'false'].includes(option.toLowerCase());
}

export const isExact = (index: unknown): boolean =>
  typeof index === 'string' && index.toLowerCase().startsWith('not_analyzed');

export const factor = (boost: unknown): number =>
  typeof boost === 'number' && boost >= 0 && boost <= 1_000_000 ? boost : 1;
