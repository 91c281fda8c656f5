import type { IntendedDifference } from './intended-difference.js';

const listing = '/{db}/_partition/{partition}/_all_docs';
const view = '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}';

const ofThePartition = {
  couchdb: 'of the shard',
  tuffet: 'of the partition',
  reason: 'A shard holds other partitions too, and which ones says nothing to the client.',
};

/** Intended differences in what is asked of one partition. */
export const partitionDifferences: readonly IntendedDifference[] = [
  ...['total_rows', 'offset'].flatMap((name) => [
    ...['GET', 'POST'].flatMap((method) =>
      [listing, view].map((route) => ({
        endpoint: `${method} ${route}`,
        member: `body.${name}`,
        ...ofThePartition,
      })),
    ),
    ...[listing, view].map((route) => ({
      endpoint: `POST ${route}/queries`,
      member: `body.results[].${name}`,
      ...ofThePartition,
    })),
    ...['GET /{db}/_all_docs', 'GET /{db}/_design/{ddoc}/_view/{view}'].map((endpoint) => ({
      endpoint,
      member: `body.${name}`,
      with: 'partition',
      ...ofThePartition,
    })),
  ]),
  ...['stale', 'update'].map((name) => ({
    endpoint: `GET ${view}`,
    member: 'body.rows',
    with: name,
    couchdb: 'may have filled the index by itself',
    tuffet: 'fills an index when it is read',
    reason: 'Indexes that are not read cost nothing.',
  })),
  ...['GET', 'POST'].map((method) => ({
    endpoint: `${method} ${listing}`,
    member: 'status',
    with: 'keys',
    couchdb: 0,
    tuffet: 400,
    reason: 'CouchDB closes the connection.',
  })),
  {
    endpoint: 'POST /{db}/_partition/{partition}/_explain',
    member: 'status',
    with: 'fields',
    couchdb: 200,
    tuffet: 400,
    reason: 'An object is no name of a field; CouchDB fails when it looks for it.',
  },
  {
    endpoint: 'POST /{db}/_partition/{partition}',
    member: 'status',
    couchdb: 400,
    tuffet: 405,
    reason: 'The method is checked before the name.',
  },
];
