import { explainedIndex, foundWithout } from './explained-index.js';
import type { IntendedDifference } from './intended-difference.js';

const listings = ['POST /{db}/_all_docs', 'POST /{db}/_design_docs', 'POST /{db}/_local_docs'];
const view = 'POST /{db}/_design/{ddoc}/_view/{view}';
const partitionQueries = [...listings, view, 'POST /{db}/_partition/{partition}/_all_docs'];

const unknownRevision =
  'A revision that the document does not have is a conflict; CouchDB takes it for the parent of a new document if the database holds ids behind it.';

/** Selectors that have these in them are taken for true here and for false there. Negated ones become an empty `$or`. */
const noAlternatives = ['"$or":[]', '"$nor":[]', '"$and":[]'];

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
  {
    endpoint: 'PUT /{db}/{docid}',
    member: 'status',
    with: '_attachments.x.content_type',
    compound: true,
    couchdb: 201,
    tuffet: 400,
    reason: 'A list is no content type: CouchDB stores it, and cannot send the attachment.',
  },
  {
    endpoint: 'PUT /{db}/{docid}',
    member: 'status',
    containing: '"data":[]',
    couchdb: 201,
    tuffet: 400,
    reason: 'The data of an attachment are a text.',
  },
  ...['"start":-1', '"start":100000000000000000000', '"ids":[['].map((containing) => ({
    endpoint: 'PUT /{db}/{docid}',
    member: 'status',
    with: '_revisions',
    containing,
    couchdb: 201,
    tuffet: 400,
    reason: 'A revision has a number that can be counted, and an id that is a text.',
  })),
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
  ...crossed(noAlternatives, explainedIndex).map(([containing, member]) => ({
    endpoint: 'POST /{db}/_explain',
    member,
    containing,
    couchdb: 'a combination without alternatives makes every index usable',
    tuffet: 'it does not',
    reason: 'It matches every document, and the index would leave some out.',
  })),
  ...crossed(noAlternatives, foundWithout).map(([containing, member]) => ({
    endpoint: 'POST /{db}/_find',
    member,
    containing,
    couchdb: 'leaves out what the index leaves out that it happens to use',
    tuffet: 'finds every document that matches',
    reason: 'What is found does not depend on indexes.',
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
  ...['GET /{db}/_changes', 'POST /{db}/_changes'].map((endpoint) => ({
    endpoint,
    member: 'body.results',
    with: 'doc_ids',
    couchdb: 'a change as often as its document is named',
    tuffet: 'a change once',
    reason: 'Naming a document twice does not change it twice.',
  })),
  ...[200, 404].map((couchdb) => ({
    endpoint: 'GET /{db}/_changes',
    member: 'status',
    with: 'style',
    couchdb,
    tuffet: 400,
    reason: 'An empty text is no style.',
  })),
  {
    endpoint: 'GET /{db}/_design/{ddoc}/_view/{view}',
    member: 'body.rows[].value.caused_by',
    couchdb: 'any of several values that cannot be added up',
    tuffet: 'the first of them',
    reason: 'Shards and the tree of an index have no say in it.',
  },
  ...[
    ['GET /{db}/{docid}', 'body'],
    ['GET /{db}/_all_docs', 'body.rows[].doc'],
    ['GET /{db}/_design/{ddoc}/_view/{view}', 'body.rows[].doc'],
    ['GET /{db}/_changes', 'body.results[].doc'],
    ['POST /{db}/_find', 'body.docs[]'],
    ['POST /{db}/_bulk_get', 'body.results[].docs[].ok'],
  ].map(([endpoint, doc]) => ({
    endpoint: endpoint!,
    member: `${doc}._attachments.{attname}.revpos`,
    couchdb: 1,
    tuffet: 'the generation of the revision that brought the attachment',
    reason:
      'CouchDB counts from 1 where a deleted document is written anew, and its replicator leaves the attachment out.',
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
  ...['minimum', 'preferred', 'total'].map((name) => ({
    endpoint: 'GET /{db}/_design/{ddoc}/_info',
    member: `body.view_index.updates_pending.${name}`,
    couchdb: 'may have filled the index by itself',
    tuffet: 'fills an index when it is read',
    reason: 'Indexes that are not read cost nothing.',
  })),
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
