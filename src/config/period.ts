const unitSeconds: readonly (readonly [names: readonly string[], seconds: number])[] = [
  [['s', 'sec', 'second', 'seconds'], 1],
  [['min', 'minute', 'minutes'], 60],
  [['h', 'hrs', 'hour', 'hours'], 3_600],
  [['d', 'day', 'days'], 86_400],
  [['w', 'week', 'weeks'], 7 * 86_400],
  [['mon', 'month', 'months'], 30 * 86_400],
  [['y', 'year', 'years'], 365 * 86_400],
];

/** The seconds of a period in CouchDB's form, such as `30_days`; undefined for any other text. */
export function periodSeconds(text: string): number | undefined {
  const [, digits, unit] = /^\+?(\d{1,9})_([a-z]+)$/.exec(text) ?? [];
  const seconds = unitSeconds.find(([names]) => names.includes(unit ?? ''))?.[1];
  const count = Number(digits);
  return seconds === undefined || count === 0 ? undefined : count * seconds;
}

/** The word for a period without an end. */
export const endless = 'infinity';

export const isPeriod = (text: string): boolean => text === endless || periodSeconds(text) !== undefined;
