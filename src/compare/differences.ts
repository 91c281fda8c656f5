import { failures } from './failures.js';
import type { IntendedDifference } from './intended-difference.js';
import { partitionDifferences } from './partition-differences.js';
import { unusualInput } from './unusual-input.js';

const otherMethods = ['COPY', 'OPTIONS', 'PATCH'];

export const intendedDifferences: readonly IntendedDifference[] = [
  ...Object.entries(failures).flatMap(([endpoint, statuses]) =>
    statuses.map((tuffet) => ({
      endpoint,
      member: 'status',
      couchdb: 500,
      tuffet,
      reason: 'Wrong input is not an internal error.',
    })),
  ),
  ...each(
    [
      'GET /{db}/_all_docs',
      'HEAD /{db}/_all_docs',
      'POST /{db}/_all_docs',
      'GET /{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}',
      'GET /{db}/_design/{ddoc}/_list/{func}/{view}',
      'HEAD /{db}/_design/{ddoc}/_list/{func}/{view}',
      'OPTIONS /{db}/_design/{ddoc}/_list/{func}/{view}',
      'HEAD /{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}',
      'OPTIONS /{db}/_design/{ddoc}/_list/{func}/{other-ddoc}/{view}',
      'GET /{db}/_design/{ddoc}/_rewrite/*',
      'HEAD /{db}/_design/{ddoc}/_rewrite/*',
      'GET /{db}/_design/{ddoc}/_view/{view}',
      'HEAD /{db}/_design/{ddoc}/_view/{view}',
      'GET /{db}/_design_docs',
      'HEAD /{db}/_design_docs',
      'POST /{db}/_design_docs',
      'GET /{db}/_local_docs',
      'HEAD /{db}/_local_docs',
      'POST /{db}/_local_docs',
      'GET /{db}/_partition/{partition}/_all_docs',
      'HEAD /{db}/_partition/{partition}/_all_docs',
      'POST /{db}/_partition/{partition}/_all_docs',
      'GET /{db}/_partition/{partition}/_design/{ddoc}/_view/{view}',
      'HEAD /{db}/_partition/{partition}/_design/{ddoc}/_view/{view}',
      'DELETE /{db}/{docid}/{attname}',
      'PUT /{db}/{docid}/{attname}',
    ],
    {
      member: 'headers.etag',
      couchdb: 'absent',
      tuffet: 'present',
      reason: 'Clients can ask whether an answer has changed.',
    },
  ),
  ...['data_size', 'disk_size', 'other'].flatMap((name) =>
    [
      { endpoint: 'GET /{db}', member: `body.${name}` },
      { endpoint: 'GET /_dbs_info', member: `body[].info.${name}` },
      { endpoint: 'POST /_dbs_info', member: `body[].info.${name}` },
      { endpoint: 'GET /{db}/_design/{ddoc}/_info', member: `body.view_index.${name}` },
    ].map((place) => ({
      ...place,
      couchdb: 'absent',
      tuffet: 'present',
      reason: 'Older clients look for it, and the written interface has it.',
    })),
  ),
  {
    endpoint: 'GET /_up',
    member: 'body.seeds',
    couchdb: 'an empty object',
    tuffet: 'absent',
    reason: 'There are no nodes to be found through others.',
  },
  ...each(
    [
      '_show/{func}',
      '_show/{func}/*',
      '_update/{func}',
      '_update/{func}/*',
      '_list/{func}/{view}',
      '_list/{func}/{other-ddoc}/{view}',
    ].flatMap((path) =>
      (path.startsWith('_show') ? ['PUT', 'DELETE', ...otherMethods] : otherMethods).map(
        (method) => `${method} /{db}/_design/{ddoc}/${path}`,
      ),
    ),
    {
      member: 'status',
      couchdb: 'runs the function',
      tuffet: 405,
      reason: 'Functions are called by the methods that the interface names.',
    },
  ),
  ...[400, 404].map((couchdb) => ({
    endpoint: 'POST /_replicate',
    member: 'status',
    couchdb,
    tuffet: 500,
    reason: 'The written interface has 500 for a specification that cannot be read.',
  })),
  ...each(['POST /{db}/_find', 'POST /{db}/_explain'], {
    member: 'status',
    with: 'selector',
    couchdb: 400,
    tuffet: 404,
    reason: '`$mod` with an argument that is no pair is `bad_arg`, which the interface answers with 404.',
  }),
  ...each(['POST /{db}/_find', 'POST /{db}/_explain'], {
    member: 'status',
    with: 'selector.$text',
    couchdb: 200,
    tuffet: 400,
    reason: '`$text` needs text and a text index; without one CouchDB answers with every document.',
  }),
  {
    endpoint: 'POST /_replicate',
    member: 'status',
    couchdb: 404,
    tuffet: 401,
    reason: 'Replications are for server admins.',
  },
  ...[200, 404].flatMap((couchdb) =>
    ['limit', 'seq_interval', 'timeout'].map((name) => ({
      endpoint: 'GET /{db}/_changes',
      member: 'status',
      with: name,
      couchdb,
      tuffet: 400,
      reason: 'Numbers out of bounds are refused.',
    })),
  ),
  ...[200, 404].flatMap((couchdb) =>
    each(
      [
        'DELETE /{db}/_index/{ddoc}/{type}/{name}',
        'DELETE /{db}/_index/_design/{ddoc}/{type}/{name}',
        'POST /{db}/_index/_bulk_delete',
      ],
      {
        member: 'status',
        couchdb,
        tuffet: 403,
        reason: 'Members may not write design documents, and an index is part of one.',
      },
    ),
  ),
  ...each(
    ['GET', 'POST'].flatMap((method) =>
      ['_show/{func}', '_show/{func}/*'].map((path) => `${method} /{db}/_design/{ddoc}/${path}`),
    ),
    {
      member: 'body',
      couchdb: 'empty',
      tuffet: 'the value',
      reason: 'What a function gives to `provides` as `json` is sent.',
    },
  ),
  ...each(
    ['_list/{func}/{view}', '_list/{func}/{other-ddoc}/{view}'].flatMap((path) =>
      ['GET', 'POST', 'OPTIONS'].map((method) => `${method} /{db}/_design/{ddoc}/${path}`),
    ),
    {
      member: 'body[].code',
      couchdb: '500',
      tuffet: 'absent',
      reason: 'The error at the end of a list that fails midway has the form of all errors.',
    },
  ),
  ...each(
    ['POST', 'PUT', 'DELETE', ...otherMethods].map((method) => `${method} /_node/{node}`),
    {
      member: 'status',
      couchdb: 200,
      tuffet: 405,
      reason: 'The name of a node can only be read.',
    },
  ),
  ...each(
    ['GET', 'HEAD', 'PUT', 'DELETE', ...otherMethods].map((method) => `${method} /_replicate`),
    {
      member: 'status',
      couchdb: 400,
      tuffet: 405,
      reason: 'The method is checked before the body.',
    },
  ),
  ...unusualInput,
  ...partitionDifferences,
  {
    endpoint: 'GET /{db}/_design/{ddoc}/_view/{view}',
    member: 'body.rows',
    with: 'sorted',
    couchdb: 'as shards answer, without `skip`',
    tuffet: 'in their order, with `skip`',
    reason: 'Rows that were asked for twice are the same.',
  },
  ...['total_keys_examined', 'total_docs_examined'].map((name) => ({
    endpoint: 'POST /{db}/_find',
    member: `body.execution_stats.${name}`,
    couchdb: 'rows up to the first match, also with `limit` 0, and rows of the one range that it reads',
    tuffet: 'rows that were read',
    reason: 'Nothing is read where nothing is asked for, and several narrow ranges instead of one.',
  })),
  ...each(['GET /{db}/{docid}/{attname}', 'HEAD /{db}/{docid}/{attname}'], {
    member: 'status',
    couchdb: 200,
    tuffet: 206,
    reason: 'Ranges of attachments that are stored compressed are served, too.',
  }),
  ...each(['DELETE /{db}/{docid}', 'DELETE /{db}/_local/{docid}'], {
    member: 'status',
    with: 'batch',
    couchdb: 200,
    tuffet: 202,
    reason: 'The written interface has 202 for every write in batch mode.',
  }),
  {
    endpoint: 'PUT /{db}/_revs_limit',
    member: 'status',
    couchdb: 400,
    tuffet: 403,
    reason: 'Permissions are checked before the body.',
  },
  {
    endpoint: 'GET /{db}/_design/{ddoc}/_rewrite/*',
    member: 'status',
    couchdb: 404,
    tuffet: 200,
    reason:
      'A rule for the database itself also holds with a query; CouchDB takes the query for a part of the path.',
  },
  {
    endpoint: 'POST /{db}/_temp_view',
    member: 'body.reason',
    couchdb: 'names its product',
    tuffet: 'says what to do instead',
    reason: 'There are no temporary views.',
  },
  {
    endpoint: 'POST /{db}/_purge',
    member: 'body.purged.{docid}',
    couchdb: 'a list of revisions',
    tuffet: 'an object with this list as `purged`',
    reason: 'The written interface has this form.',
  },
  ...each(['GET /{db}/_changes'], {
    member: 'body.pending',
    with: 'filter',
    couchdb: 'counts what the filter leaves out',
    tuffet: 'changes that are still to come',
    reason: 'Clients wait for 0.',
  }),
  {
    endpoint: 'POST /{db}/_changes',
    member: 'body.pending',
    couchdb: 'counts what the filter leaves out',
    tuffet: 'changes that are still to come',
    reason: 'Clients wait for 0.',
  },
  {
    endpoint: 'POST /{db}/_explain',
    member: 'body.ranges',
    couchdb: 'absent',
    tuffet: 'present, where other ranges of an index are read than the one in `mrargs`',
    reason: 'CouchDB reads one range; several narrow ranges read fewer documents.',
  },
  {
    endpoint: 'GET /_db_updates',
    member: 'status',
    with: 'since',
    couchdb: 400,
    tuffet: 200,
    reason:
      'A sequence of another server starts from the beginning, so that clients that move here continue.',
  },
  ...['since', 'last-event-id'].map((name) => ({
    endpoint: 'GET /{db}/_changes',
    member: 'status',
    with: name,
    couchdb: 400,
    tuffet: 200,
    reason:
      'A sequence of another server starts from the beginning, so that clients that move here continue.',
  })),
];

function each(
  endpoints: readonly string[],
  difference: Omit<IntendedDifference, 'endpoint'>,
): IntendedDifference[] {
  return endpoints.map((endpoint) => ({ endpoint, ...difference }));
}
