import { documentEndpoints } from './documents.js';
import type { Endpoint } from './endpoint.js';
import { functionEndpoints } from './functions.js';
import { listingEndpoints } from './listings.js';
import { queryEndpoints } from './queries.js';
import { serverEndpoints } from './server.js';

export const endpoints: readonly Endpoint[] = [
  ...listingEndpoints,
  ...documentEndpoints,
  ...queryEndpoints,
  ...functionEndpoints,
  ...serverEndpoints,
];
