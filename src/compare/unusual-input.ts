import type { IntendedDifference } from './intended-difference.js';

const listings = ['POST /{db}/_all_docs', 'POST /{db}/_design_docs', 'POST /{db}/_local_docs'];
const view = 'POST /{db}/_design/{ddoc}/_view/{view}';
const partitionQueries = [...listings, view];

const unknownRevision =
  'A revision that the document does not have is a conflict; CouchDB takes it for the parent of a new document if the database holds ids behind it.';

const explainedIndex = [
  'body.index_candidates[].analysis.reasons[].name',
  'body.index.ddoc',
  'body.index.def.fields',
  'body.index.name',
  'body.index.partitioned',
  'body.index.type',
];

const crossed = (some: readonly string[], others: readonly string[]): [string, string][] =>
  some.flatMap((one) => others.map((other): [string, string] => [one, other]));

/** Intended differences in how input is read that no client sends on purpose. */
export const unusualInput: readonly IntendedDifference[] = [
  ...['startkey_docid', 'start_key_doc_id', 'endkey_docid', 'end_key_doc_id'].flatMap((name) =>
    listings.flatMap((endpoint) =>
      ['body.rows', 'body.offset'].map((member) => ({
        endpoint,
        member,
        with: name,
        compound: true,
        couchdb: 'lists and objects are ordered like the terms of its language',
        tuffet: 'lists and objects are the empty text',
        reason: 'Ids are texts.',
      })),
    ),
  ),
  ...partitionQueries.map((endpoint) => ({
    endpoint,
    member: 'body.error',
    with: 'partition',
    compound: true,
    couchdb: 'query_parse_error',
    tuffet: 'illegal_partition',
    reason: 'That a list or an object is no name of a partition is told first.',
  })),
  ...[200, 404].flatMap((couchdb) =>
    partitionQueries.map((endpoint) => ({
      endpoint,
      member: 'status',
      with: 'partition',
      compound: true,
      couchdb,
      tuffet: 400,
      reason: 'A list or an object is no name of a partition.',
    })),
  ),
  ...['PUT /{db}/{docid}', 'POST /{db}', 'PUT /{db}/_design/{ddoc}'].flatMap((endpoint) =>
    ['rev', '_rev'].map((name) => ({
      endpoint,
      member: 'status',
      with: name,
      couchdb: 201,
      tuffet: 409,
      reason: unknownRevision,
    })),
  ),
  ...['POST /{db}/_explain', 'POST /{db}/_changes'].map((endpoint) => ({
    endpoint,
    member: 'status',
    with: 'fields',
    couchdb: 200,
    tuffet: 400,
    reason: 'An object is no name of a field; CouchDB fails when it looks for it.',
  })),
  ...['POST /{db}/_find', 'POST /{db}/_explain'].map((endpoint) => ({
    endpoint,
    member: 'body.error',
    with: 'selector.$text',
    couchdb: 'no_usable_index',
    tuffet: 'invalid_operator',
    reason: '`$text` needs text.',
  })),
  ...crossed(['selector.$or', 'selector.n.$or'], explainedIndex).map(([name, member]) => ({
    endpoint: 'POST /{db}/_explain',
    member,
    with: name,
    couchdb: 'an `$or` without alternatives makes every index usable',
    tuffet: 'it does not',
    reason: 'Below `$and` it matches every document, and the index would leave some out.',
  })),
  ...['body.index_candidates[].analysis.reasons[].name', 'body.selector_hints[].unindexable_fields'].map(
    (member) => ({
      endpoint: 'POST /{db}/_explain',
      member,
      with: 'selector.$text',
      couchdb: 'takes `$text` for a field',
      tuffet: 'says that `$text` needs a text index',
      reason: 'That is what the reader has to do something about.',
    }),
  ),
  ...['id', 'value', 'error'].map((name) => ({
    endpoint: 'GET /{db}/_all_docs',
    member: `body.rows[].${name}`,
    with: 'keys',
    couchdb: 'a list of one text stands for the text',
    tuffet: 'not_found',
    reason: 'Ids are texts.',
  })),
  {
    endpoint: 'POST /{db}/_local_docs/queries',
    member: 'body.results[].rows',
    with: 'descending',
    couchdb: 'has local documents of its own, one for each index',
    tuffet: 'has those that clients wrote',
    reason: 'How far purges have reached an index is noted in the index.',
  },
  {
    endpoint: 'POST /{db}/_find',
    member: 'body.error',
    with: 'partition',
    couchdb: 'no_usable_index',
    tuffet: 'bad_request',
    reason: 'That a database has no partitions is told first.',
  },
  ...['source', 'target'].map((name) => ({
    endpoint: 'POST /_replicate',
    member: 'body.error',
    with: name,
    compound: true,
    couchdb: 'unknown_error',
    tuffet: 'bad_rep_doc',
    reason: 'What is wrong is known.',
  })),
  {
    endpoint: 'POST /_replicate',
    member: 'status',
    with: 'doc_ids',
    couchdb: 404,
    tuffet: 400,
    reason: 'Ids are texts.',
  },
  {
    endpoint: 'DELETE /{db}',
    member: 'status',
    couchdb: 404,
    tuffet: 400,
    reason: 'The written interface has 400 for what no database can be called.',
  },
  {
    endpoint: 'GET /{db}/_design/{ddoc}/_info',
    member: 'body.view_index.waiting_commit',
    couchdb: 'whether what was indexed is not yet on disk',
    tuffet: 'false',
    reason: 'Indexes are written in the steps in which they can be read.',
  },
  ...[
    'POST /{db}/_design/{ddoc}/_view/{view}/queries',
    'GET /{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}',
  ].map((endpoint) => ({
    endpoint,
    member: 'status',
    couchdb: 400,
    tuffet: 404,
    reason: 'That a function or view is missing is told before what is wrong with the request.',
  })),
  ...['GET /{db}/_design/{ddoc}/_view/{view}', 'GET /{db}/_design/{ddoc}/_list/{func}/{view}'].map(
    (endpoint) => ({
      endpoint,
      member: 'status',
      with: 'keys',
      couchdb: 404,
      tuffet: 400,
      reason: 'Keys that are no list are refused, whatever they are asked of.',
    }),
  ),
  ...[400, 415].flatMap((couchdb) =>
    ['GET', 'POST'].map((method) => ({
      endpoint: `${method} /{db}/_design/{ddoc}/_list/{func}/{view}`,
      member: 'status',
      couchdb,
      tuffet: 404,
      reason: 'That a function or view is missing is told before what is wrong with the request.',
    })),
  ),
  {
    endpoint: 'GET /_db_updates',
    member: 'status',
    with: 'feed',
    couchdb: 200,
    tuffet: 400,
    reason: 'Of a parameter that is given twice none may be wrong.',
  },
  {
    endpoint: 'POST /{db}/_index/_bulk_delete',
    member: 'status',
    with: 'docids',
    couchdb: 200,
    tuffet: 400,
    reason: 'Nothing is the name of no design document.',
  },
  ...[
    { endpoint: 'PUT /{db}', tuffet: 400 },
    { endpoint: 'PUT /{db}/{docid}', tuffet: 400 },
    { endpoint: 'GET /{db}/_design/{ddoc}/_list/{func}/{view}', tuffet: 200 },
    { endpoint: 'GET /{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}', tuffet: 200 },
    { endpoint: 'POST /{db}/_design/{ddoc}/_list/{func}/{view}', tuffet: 200 },
  ].map((where) => ({
    ...where,
    member: 'status',
    couchdb: 0,
    reason: 'CouchDB closes the connection or does not answer in time.',
  })),
];
