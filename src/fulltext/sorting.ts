import { badRequest } from '../base/errors.js';
import { fromBytes } from '../base/bytes.js';
import type { IndexedDoc } from '../search/postings.js';

/** What a hit is ordered by; null where a document has nothing to be ordered by. */
export type OrderValue = number | string | null;

/** One of the things that hits are ordered by. */
export interface Sorting {
  descending: boolean;
  /** Whether what has no value comes before all others, and behind them where it descends; else it always comes last. */
  isAbsentLeast?: boolean;
  /** Whether the values of documents are looked at, and not only how relevant they are. */
  needsDoc: boolean;
  /** What its values are where a document has one; undefined where they may be either. */
  type?: 'number' | 'string' | undefined;
  /** Whether every hit has a value. */
  isAlwaysThere?: boolean;
  valueOf(hit: { doc: number; score: number; indexed: IndexedDoc | undefined }): OrderValue;
}

export type OrderRule = Pick<Sorting, 'descending' | 'isAbsentLeast'>;

export const sortingsMax = 100;

/** Most relevant first. */
export const byRelevance: Sorting = {
  descending: true,
  needsDoc: false,
  type: 'number',
  isAlwaysThere: true,
  valueOf: ({ score }) => (Number.isNaN(score) ? 0 : Math.min(score, Number.MAX_VALUE)),
};

const byNumber: Sorting = {
  descending: false,
  needsDoc: false,
  type: 'number',
  isAlwaysThere: true,
  valueOf: ({ doc }) => doc,
};

/** Reads what stands as `sort`: a text or a list of texts, such as `-price<number>`. */
export function readSort(given: unknown): Sorting[] {
  if (given === undefined || given === null || given === 'relevance') return [byRelevance];
  const list: unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || list.length > sortingsMax) throw invalidSort(given);
  return list.map((each) => {
    if (typeof each !== 'string') throw invalidSort(given);
    return readSorting(each);
  });
}

const invalidSort = (given: unknown): Error =>
  badRequest(`Invalid sort: ${JSON.stringify(given)?.slice(0, 200)}`);

function readSorting(text: string): Sorting {
  const isReversed = text.startsWith('-');
  const name = text.replace(/^[-+]/, '');
  if (name === '<score>') return { ...byRelevance, descending: !isReversed };
  if (name === '<doc>') return { ...byNumber, descending: isReversed };
  if (name.startsWith('<distance,')) return { ...readDistance(name, text), descending: isReversed };
  const found = /^(.+?)(?:<(string|number)>)?$/s.exec(name);
  if (found === null || /[<>]/.test(found[1]!)) throw invalidSort(text);
  const [, field, type] = found;
  return {
    descending: isReversed,
    needsDoc: true,
    type: field === '_id' ? 'string' : (type as Sorting['type']),
    valueOf: ({ indexed }) => valueOf(indexed, field!, type),
  };
}

function valueOf(indexed: IndexedDoc | undefined, field: string, type: string | undefined): OrderValue {
  if (indexed === undefined) return null;
  if (field === '_id') return fromBytes(indexed.id);
  const { v } = indexed.values;
  const value = v !== undefined && Object.hasOwn(v, field) ? v[field] : undefined;
  if (typeof value === 'string') return type === 'number' ? null : value;
  if (value === undefined || type === 'string') return null;
  return value[0] ?? null;
}

const earthRadius: Readonly<Record<string, number>> = { mi: 3_958.76, km: 6_371.01 };

/** `<distance,longitude field,latitude field,longitude,latitude,unit>` */
function readDistance(name: string, text: string): Sorting {
  const parts = name.slice(1, -1).split(',');
  const [, x, y, longitude, latitude, unit = 'mi'] = parts;
  const radius = earthRadius[unit];
  const [lon, lat] = [Number(longitude), Number(latitude)];
  if (!name.endsWith('>') || parts.length < 5 || parts.length > 6) throw invalidSort(text);
  if (radius === undefined || Number.isNaN(lon) || Number.isNaN(lat)) throw invalidSort(text);
  return {
    descending: false,
    needsDoc: true,
    type: 'number',
    valueOf: ({ indexed }) => {
      const [toLon, toLat] = [valueOf(indexed, x!, 'number'), valueOf(indexed, y!, 'number')];
      return typeof toLon === 'number' && typeof toLat === 'number'
        ? radius * angle(lon, lat, toLon, toLat)
        : null;
    },
  };
}

/** Between two places on a sphere, by the haversine formula. */
function angle(lon1: number, lat1: number, lon2: number, lat2: number): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const half = (degrees: number): number => Math.sin(radians(degrees) / 2) ** 2;
  const h = half(lat2 - lat1) + Math.cos(radians(lat1)) * Math.cos(radians(lat2)) * half(lon2 - lon1);
  return 2 * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Compares orders: those without a value come last, numbers stand before texts. The last part is the document's number. */
export function compareOrders(
  a: readonly OrderValue[],
  b: readonly OrderValue[],
  sort: readonly OrderRule[],
): number {
  for (let i = 0; i < sort.length; i++) {
    const difference = compareValues(a[i] ?? null, b[i] ?? null, sort[i]!);
    if (difference !== 0) return difference;
  }
  return (a[sort.length] as number) - (b[sort.length] as number);
}

function compareValues(a: OrderValue, b: OrderValue, { descending, isAbsentLeast }: OrderRule): number {
  if (a === b) return 0;
  if (a === null || b === null) {
    const isLast = isAbsentLeast !== true || descending;
    return (a === null) === isLast ? 1 : -1;
  }
  const isLess = typeof a === typeof b ? a < b : typeof a === 'number';
  return isLess !== descending ? -1 : 1;
}
