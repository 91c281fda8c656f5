import type { IntendedDifference } from './intended-difference.js';

const listings = ['POST /{db}/_all_docs', 'POST /{db}/_design_docs', 'POST /{db}/_local_docs'];
const view = 'POST /{db}/_design/{ddoc}/_view/{view}';
const partitionQueries = [...listings, view];

const unknownRevision =
  'A revision that the document does not have is a conflict; CouchDB takes it for the parent of a new document if the database holds ids behind it.';

/** Intended differences in how input is read that no client sends on purpose. */
export const unusualInput: readonly IntendedDifference[] = [
  ...['startkey_docid', 'start_key_doc_id', 'endkey_docid', 'end_key_doc_id'].flatMap((name) =>
    listings.flatMap((endpoint) =>
      ['body.rows', 'body.offset'].map((member) => ({
        endpoint,
        member,
        with: name,
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
    couchdb: 'query_parse_error',
    tuffet: 'illegal_partition',
    reason: 'That a list or an object is no name of a partition is told first.',
  })),
  ...[200, 404].flatMap((couchdb) =>
    partitionQueries.map((endpoint) => ({
      endpoint,
      member: 'status',
      with: 'partition',
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
  ...['selector.$or', 'selector.n.$or'].map((name) => ({
    endpoint: 'POST /{db}/_explain',
    member: 'body.index_candidates[].analysis.reasons[].name',
    with: name,
    couchdb: 'an `$or` without alternatives makes every index usable',
    tuffet: 'it does not',
    reason: 'Below `$and` it matches every document, and the index would leave some out.',
  })),
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
