import { badRequest } from '../../base/errors.js';
import type { KnnRequest } from '../../fulltext/search-request.js';
import { dimensionsMax, isVector, similarities, type Similarity } from '../../search/vectors.js';

const neighboursDefault = 10;
const neighboursMax = 1_000;

/** Reads what stands as `knn`: a field, a vector, how many neighbours, and how they are compared. */
export function knnOf(value: unknown): KnnRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest('`knn` must be an object with `field` and `vector`.');
  const { field, vector, k = neighboursDefault, similarity = 'cosine' } = value as Record<string, unknown>;
  if (typeof field !== 'string') throw badRequest('`field` of `knn` must be a string.');
  if (!isVector(vector))
    throw badRequest(`\`vector\` of \`knn\` must be an array of 1 to ${dimensionsMax} numbers.`);
  if (typeof k !== 'number' || !Number.isInteger(k) || k < 1 || k > neighboursMax)
    throw badRequest(`\`k\` of \`knn\` must be an integer from 1 to ${neighboursMax}.`);
  if (!similarities.includes(similarity as Similarity))
    throw badRequest(`\`similarity\` of \`knn\` must be one of ${similarities.join(', ')}.`);
  return { field, vector, k, similarity: similarity as Similarity };
}
