import { RequestError } from '../../base/errors.js';

/** Bytes `start` up to, not including, `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/** With this many ranges the whole is sent: such requests are useless and expensive. */
const rangesMax = 9;

/**
 * What a `Range` header asks for; undefined where it asks for the whole, or is not understood, which is the same.
 * Refuses what lies behind the end.
 */
export function parseRanges(header: string | undefined, length: number): ByteRange[] | undefined {
  const list = /^bytes=(.*)$/.exec(header ?? '')?.[1];
  if (list === undefined) return undefined;
  const ranges: ByteRange[] = [];
  // RFC 9110 has receivers ignore empty elements of lists.
  for (const each of list.split(',').filter((text) => text.trim() !== '')) {
    const [, first = '', last = ''] = /^\s*(\d*)-(\d*)\s*$/.exec(each) ?? [];
    if (first === '' && last === '') return undefined;
    // The whole, whatever else is asked for.
    if (first !== '' && Number(first) === 0 && last === '') return undefined;
    const start = first === '' ? Math.max(0, length - Number(last)) : Number(first);
    const end = first === '' || last === '' ? length : Math.min(length, Number(last) + 1);
    if (start >= length || start >= end)
      throw new RequestError('requested_range_not_satisfiable', 'Requested range not satisfiable');
    ranges.push({ start, end });
  }
  return ranges.length === 0 || ranges.length > rangesMax ? undefined : ranges;
}
