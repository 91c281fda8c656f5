import type { Bytes } from '../base/bytes.js';
import { readMapSource, type MapSource, type Parse } from './map-source.js';

/**
 * Parsing documents takes most of the time of a map function. Two things that its source tells save much of it:
 *
 * - which members of the document it can look at. Where every mention of its parameter is of the form `doc.name`, the
 *   others need not be handed over: `function (doc) { emit(doc.type, doc.total) }` is given two members out of twenty.
 * - whether it could change the document. Functions that don't can share one that is not frozen; each of the others gets
 *   its own, which is: what it assigns is lost, as in CouchDB.
 *
 * A function whose source is not understood gets the whole document, to itself.
 */
export interface MapPlan {
  /** Functions that are run on the same documents, by their places. */
  groups: readonly MapGroup[];
}

export interface MapGroup {
  which: readonly number[];
  /** The members that the functions look at; undefined for all. */
  members: ReadonlySet<Bytes> | undefined;
  /** Whether they might try to change the documents, which have to be frozen for them. */
  mayChange: boolean;
}

/** Characters of sources that are read for one plan: a thread plans while its functions' time runs. */
const readLengthMax = 256_000;

export function planMaps(parse: Parse, sources: readonly string[], hasModules: boolean): MapPlan {
  const length = sources.reduce((sum, source) => sum + source.length, 0);
  const read = sources.map((source) => (length > readLengthMax ? undefined : readMapSource(parse, source)));
  // A module, or a function that is not understood, may change what all objects have.
  const wary = hasModules || read.includes(undefined);
  const shared = [...read.keys()].filter((at) => read[at]?.readsOnly);
  const groups: MapGroup[] =
    shared.length === 0
      ? []
      : [{ which: shared, members: wary ? undefined : union(shared, read), mayChange: false }];
  for (const at of sources.keys()) {
    if (shared.includes(at)) continue;
    groups.push({ which: [at], members: wary ? undefined : read[at]?.members, mayChange: true });
  }
  return { groups };
}

function union(
  which: readonly number[],
  read: readonly (MapSource | undefined)[],
): ReadonlySet<Bytes> | undefined {
  const members = new Set<Bytes>();
  for (const at of which) {
    const looked = read[at]?.members;
    if (looked === undefined) return undefined;
    for (const name of looked) members.add(name);
  }
  return members;
}
