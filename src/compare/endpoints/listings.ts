import { listingParameters, viewParameters, type Endpoint } from './endpoint.js';

const design = '/{db}/_design/fun';
const queriesParameters = {
  limit: 'number',
  include_docs: 'boolean',
  keys: 'keys',
  descending: 'boolean',
} as const;

const listings = ['_all_docs', '_design_docs', '_local_docs'].flatMap((name): Endpoint[] => [
  { route: `/{db}/${name}`, method: 'GET', path: `/{db}/${name}`, parameters: listingParameters },
  {
    route: `/{db}/${name}`,
    method: 'POST',
    path: `/{db}/${name}`,
    body: {},
    members: Object.keys(listingParameters),
  },
  {
    route: `/{db}/${name}/queries`,
    method: 'POST',
    path: `/{db}/${name}/queries`,
    body: { queries: [{ limit: 1 }, { keys: ['a', 'nope'] }] },
    members: ['queries', 'queries.0', 'queries.0.limit', 'queries.0.keys', 'queries.1.keys', 'keys'],
    parameters: queriesParameters,
  },
]);

const views = ['n', 'counted', 'own', 'summed', 'stats', 'nope'].flatMap((name): Endpoint[] => [
  {
    route: '/{db}/_design/{ddoc}/_view/{view}',
    method: 'GET',
    path: `${design}/_view/${name}`,
    parameters: viewParameters,
  },
  {
    route: '/{db}/_design/{ddoc}/_view/{view}',
    method: 'POST',
    path: `${design}/_view/${name}`,
    body: {},
    members: Object.keys(viewParameters),
  },
  {
    route: '/{db}/_design/{ddoc}/_view/{view}/queries',
    method: 'POST',
    path: `${design}/_view/${name}/queries`,
    body: { queries: [{ limit: 1 }, { keys: [3, 'nope'], reduce: false }] },
    members: [
      'queries',
      'queries.0',
      'queries.0.key',
      'queries.0.limit',
      'queries.0.reduce',
      'queries.0.group_level',
      'queries.1.keys',
    ],
    parameters: queriesParameters,
  },
]);

const parts = '/{db}/_partition/p';
const partitions: Endpoint[] = [
  { route: '/{db}/_partition/{partition}', method: 'GET', path: parts },
  { route: '/{db}/_partition/{partition}', method: 'GET', path: '/{db}/_partition/nope' },
  { route: '/{db}/_partition/{partition}', method: 'GET', path: '/{db}/_partition/_nope' },
  {
    route: '/{db}/_partition/{partition}/_all_docs',
    method: 'GET',
    path: `${parts}/_all_docs`,
    parameters: { ...listingParameters, key: ['"p:a"', '"q:a"', '"x"'], startkey: ['"p:b"', '"a"', '"z"'] },
  },
  {
    route: '/{db}/_partition/{partition}/_all_docs',
    method: 'POST',
    path: `${parts}/_all_docs`,
    body: {},
    members: Object.keys(listingParameters),
  },
  ...['n', 'counted'].map((name): Endpoint => ({
    route: '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}',
    method: 'GET',
    path: `${parts}/_design/parts/_view/${name}`,
    parameters: viewParameters,
  })),
  {
    route: '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}',
    method: 'GET',
    path: `${parts}/_design/whole/_view/n`,
  },
  {
    route: '/{db}/_partition/{partition}/_design/{ddoc}/_view/{view}',
    method: 'POST',
    path: `${parts}/_design/parts/_view/n`,
    body: {},
    members: ['keys', 'limit', 'reduce', 'include_docs'],
  },
  ...[
    { route: '_all_docs', path: '_all_docs' },
    { route: '_design/{ddoc}/_view/{view}', path: '_design/parts/_view/n' },
  ].map(({ route, path }): Endpoint => ({
    route: `/{db}/_partition/{partition}/${route}/queries`,
    method: 'POST',
    path: `${parts}/${path}/queries`,
    body: { queries: [{ limit: 1 }, { descending: true }] },
    members: ['queries', 'queries.0.limit'],
  })),
  ...['_find', '_explain'].map((name): Endpoint => ({
    route: `/{db}/_partition/{partition}/${name}`,
    method: 'POST',
    path: `${parts}/${name}`,
    body: { selector: { n: { $gt: 0 } }, fields: ['_id', 'n'] },
    members: ['selector', 'selector._id', 'fields', 'limit', 'sort', 'use_index', 'partition'],
  })),
  ...['_all_docs', '_design/parts/_view/n', '_design/whole/_view/n', 'p:a', 'x', 'p:'].map(
    (tail): Endpoint => ({
      route: tail.startsWith('_design')
        ? '/{db}/_design/{ddoc}/_view/{view}'
        : tail.startsWith('_')
          ? '/{db}/_all_docs'
          : '/{db}/{docid}',
      method: 'GET',
      path: `/{db}/${tail}`,
      parameters: { partition: 'text', limit: 'number', include_docs: 'boolean' },
    }),
  ),
].map((endpoint) => ({ ...endpoint, scene: 'partitioned' }));

export const listingEndpoints: readonly Endpoint[] = [...listings, ...views, ...partitions];
