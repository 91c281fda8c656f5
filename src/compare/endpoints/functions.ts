import { writingParameters, type Endpoint } from './endpoint.js';

const design = '/{db}/_design/fun';

/** Design documents that one or the other server may refuse. */
const designMembers = [
  'views',
  'views.v',
  'views.v.map',
  'views.v.reduce',
  'views.lib',
  'language',
  'options',
  'options.partitioned',
  'options.local_seq',
  'options.include_design',
  'shows',
  'shows.s',
  'lists',
  'lists.l',
  'updates',
  'updates.u',
  'filters',
  'filters.f',
  'rewrites',
  'validate_doc_update',
  'indexes',
  'autoupdate',
];

const designDocuments: Endpoint[] = [
  {
    route: '/{db}/_design/{ddoc}',
    method: 'PUT',
    path: '/{db}/_design/new',
    parameters: writingParameters,
    body: { views: { v: { map: 'function (doc) { emit(doc._id, 1); }', reduce: '_sum' } } },
    members: designMembers,
    writes: true,
  },
  { route: '/{db}/_design/{ddoc}/_info', method: 'GET', path: `${design}/_info` },
  { route: '/{db}/_design/{ddoc}/_info', method: 'GET', path: '/{db}/_design/nope/_info' },
  { route: '/{db}/_design/{ddoc}/{attname}', method: 'GET', path: `${design}/nope` },
];

const shows = ['text', 'made', 'throws', 'types', 'nope'].flatMap((name): Endpoint[] => [
  { route: '/{db}/_design/{ddoc}/_show/{func}', method: 'GET', path: `${design}/_show/${name}` },
  ...['a', 'nope', 'g/h', '_design/fun'].map((id): Endpoint => ({
    route: '/{db}/_design/{ddoc}/_show/{func}/*',
    method: 'GET',
    path: `${design}/_show/${name}/${id}`,
    parameters: { format: ['json', 'html', 'xml', 'nope'], q: 'text' },
  })),
  {
    route: '/{db}/_design/{ddoc}/_show/{func}/*',
    method: 'POST',
    path: `${design}/_show/${name}/a`,
    body: { v: 1 },
  },
]);

const lists = [
  'rows/n',
  'head/n',
  'late/n',
  'types/n',
  'throws/n',
  'rows/counted',
  'rows/nope',
  'nope/n',
  'rows/_all_docs',
  'rows/other/t',
  'rows/nope/t',
].map((tail): Endpoint => ({
  route:
    tail.split('/').length === 3
      ? '/{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}'
      : '/{db}/_design/{ddoc}/_list/{func}/{view}',
  method: 'GET',
  path: `${design}/_list/${tail}`,
  parameters: {
    limit: 'number',
    key: 'json',
    keys: 'keys',
    group: 'boolean',
    reduce: 'boolean',
    format: ['json', 'html', 'xml', 'nope'],
  },
}));

const updates = [
  'same/a',
  'same/nope',
  'same',
  'make',
  'make/new',
  'text/a',
  'noid',
  'throws/a',
  'nope',
  'nope/a',
].flatMap((tail): Endpoint[] =>
  ['POST', 'PUT'].map((method) => ({
    route: tail.includes('/')
      ? '/{db}/_design/{ddoc}/_update/{func}/*'
      : '/{db}/_design/{ddoc}/_update/{func}',
    method,
    path: `${design}/_update/${tail}`,
    body: {},
    writes: true,
  })),
);

const others: Endpoint[] = [
  ...['_show', '_list', '_update', '_list/rows'].map((tail): Endpoint => ({
    route: `/{db}/_design/{ddoc}/${tail.replace(/^_list.*/, '_list/*')}`,
    method: 'GET',
    path: `${design}/${tail}`,
  })),
  ...['', 'doc', 'doc/b', 'view', 'nope', 'doc/nope'].map((tail): Endpoint => ({
    route: '/{db}/_design/{ddoc}/_rewrite/*',
    method: 'GET',
    path: `${design}/_rewrite/${tail}`,
    parameters: { limit: 'number' },
  })),
  { route: '/{db}/_temp_view', method: 'POST', path: '/{db}/_temp_view', body: { map: 'function () {}' } },
];

export const functionEndpoints: readonly Endpoint[] = [
  ...designDocuments,
  ...shows,
  ...lists,
  ...updates,
  ...others,
];
