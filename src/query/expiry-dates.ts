/** Numbers from here on are milliseconds since 1970, those below seconds. */
const millisecondsFrom = 100_000_000_000;

/** As `Date.toJSON` writes it: always UTC, milliseconds or no fraction. */
const utcDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

/** Milliseconds since 1970; undefined for what is no date. */
export function expiryMs(value: unknown): number | undefined {
  if (typeof value === 'number')
    return value <= 0 ? undefined : value < millisecondsFrom ? value * 1000 : value;
  if (typeof value !== 'string' || !utcDate.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Conditions that every date up to a time meets, each for one of the forms, so that an index finds them as a range. */
export function dueConditions(nowMs: number): object[] {
  const nextSecond = new Date(nowMs + 1000).toISOString().slice(0, 19);
  return [
    { $gt: 0, $lte: nowMs / 1000 },
    { $gte: millisecondsFrom, $lte: nowMs },
    { $gte: '0', $lte: nextSecond },
  ];
}
