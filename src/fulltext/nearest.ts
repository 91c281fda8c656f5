import { type Bytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import type { TimeSlice } from '../base/turns.js';
import { VectorProbe } from '../search/vectors.js';
import { SearchReader } from './search-reader.js';
import type { KnnRequest } from './search-request.js';
import type { SearchSource } from './search-source.js';
import { byRelevance } from './sorting.js';
import { TopHits, type Hit } from './top-hits.js';

/** Vectors that are compared without looking at the time. */
const vectorsAtOnce = 64;

interface NearestOptions {
  source: SearchSource;
  partition: Bytes | undefined;
  /** Throws when time is up. */
  check: () => void;
}

/** The documents whose vectors are most like the given one: every vector of the field is looked at. */
export async function nearest(options: NearestOptions, knn: KnnRequest): Promise<readonly Hit[]> {
  const { source, partition } = options;
  const top = new TopHits(knn.k, [byRelevance]);
  const probe = new VectorProbe(knn.vector, knn.similarity);
  const groups = source.readers().length;
  const readerOf = (group: number): SearchReader | undefined => {
    const reader = source.readers()[group];
    return reader && new SearchReader(reader, partition);
  };
  const slice = source.database.runtime.slice();
  let isFound = false;
  for (let group = 0; group < groups; group++) {
    const numberOf = (doc: number): number => doc * groups + group;
    if (await compareAll(options, () => readerOf(group), knn, probe, numberOf, top, slice)) isFound = true;
    if (slice.isOver) await slice.next();
    options.check();
  }
  if (!isFound) for (let group = 0; group < groups; group++) checkDimensions(readerOf(group), knn);
  return top.hits;
}

/** Gives whether there is a vector of these dimensions. */
async function compareAll(
  { check }: NearestOptions,
  readerNow: () => SearchReader | undefined,
  { field, vector }: KnnRequest,
  probe: VectorProbe,
  numberOf: (doc: number) => number,
  top: TopHits,
  slice: TimeSlice,
): Promise<boolean> {
  let isFound = false;
  for (let from: number | undefined = 0; from !== undefined;) {
    const reader = readerNow();
    if (reader === undefined) return isFound;
    let compared = 0;
    let next: number | undefined;
    for (const { doc, value } of reader.vectors(field, vector.length, from)) {
      isFound = true;
      const number = numberOf(doc);
      top.add({ doc: number, order: [probe.score(value), number] });
      if (++compared % vectorsAtOnce > 0 || !slice.isOver) continue;
      next = doc + 1;
      break;
    }
    from = next;
    if (from === undefined) return isFound;
    await slice.next();
    check();
  }
  return isFound;
}

function checkDimensions(reader: SearchReader | undefined, { field, vector }: KnnRequest): void {
  const dimensions = reader?.vectorDimensions(field);
  if (dimensions !== undefined && dimensions !== vector.length)
    throw badRequest(
      `The vectors of the field ${field.slice(0, 100)} have ${dimensions} dimensions, that of the query has ${vector.length}.`,
    );
}
