import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerAreas } from '../support/answer-areas.js';
import { newDb, startServer } from '../support/server.js';

/** Details that no documentation tells, as CouchDB 3.4.3 answers them. */
const client = await startServer();
const area = answerAreas(client);

area(
  'Listings',
  [{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }],
  [
    { do: 'GET ~/_all_docs?key="b"&keys=["a"]', status: 200, has: { 'rows.0.id': 'a', 'rows.length': 1 } },
    { do: 'GET ~/_all_docs?keys=["a"]&key="b"', status: 400, has: { error: 'query_parse_error' } },
    { do: 'GET ~/_all_docs?keys=["a"]&key="a"', status: 200, has: { 'rows.0.id': 'a' } },
    { do: 'GET ~/_all_docs?keys=["a","b"]&key="a"', status: 400, has: { error: 'query_parse_error' } },
    {
      do: 'POST ~/_all_docs/queries',
      json: {
        queries: [
          { keys: ['a'], key: 'b' },
          { key: 'b', keys: ['a'] },
        ],
      },
      status: 200,
      has: { 'results.0.rows.0.id': 'b', 'results.1.rows.0.id': 'a' },
    },
    { do: 'GET ~/_all_docs?update=x&keys=1', status: 400, has: { error: 'bad_request' } },
    { do: 'GET ~/_all_docs?update=x&keys=["a"]', status: 400, has: { error: 'query_parse_error' } },
    { do: 'POST ~/_all_docs', json: { update: 'x', keys: 1 }, status: 400, has: { error: 'bad_request' } },
    { do: 'POST ~/_all_docs?keys=["a","b"]', json: { keys: ['c'] }, status: 400 },
    { do: 'POST ~/_all_docs?keys=["a"]', json: { keys: ['a'] }, status: 200, has: { 'rows.length': 1 } },
    {
      do: 'POST ~/_all_docs?keys=["a","b"]',
      json: { keys: ['c', 'd'] },
      status: 200,
      has: { 'rows.0.id': 'a' },
    },
    { do: 'POST ~/_all_docs?limit=1', json: { limit: 'x' }, status: 400 },
    { do: 'GET ~/_all_docs?limit=', status: 400, has: { reason: 'Invalid value for integer: []' } },
    { do: 'GET ~/_all_docs?descending=', status: 400, has: { reason: 'Invalid boolean parameter: []' } },
    { do: 'GET /_all_dbs?keys=["_users"]', status: 200, has: { '0': '_users', length: 1 } },
    { do: 'GET /_all_dbs?keys=["nosuch","_users"]&skip=1', status: 200, has: { '0': '_users', length: 1 } },
    { do: 'GET /_all_dbs?keys=["nosuch","_users"]&limit=1', status: 200, has: { length: 0 } },
    { do: 'GET /_all_dbs?keys=["a","b"]&startkey=null', status: 400 },
    { do: 'GET /_dbs_info?keys=["_users"]', status: 200, has: { '0.key': '_users', length: 1 } },
  ],
);

area(
  'Documents',
  [{ _id: 'a' }],
  [
    { do: 'PUT ~/first?w=1&w=2', json: {}, status: 201 },
    { do: 'PUT ~/second?w=2&w=1', json: {}, status: 202 },
    { do: 'PUT ~/third?w=1.5', json: {}, status: 201 },
    { do: 'PUT ~/fourth?w=%2B2', json: {}, status: 202 },
    { do: 'POST ~/_bulk_docs', json: { w: '2', docs: [{}] }, status: 201 },
    { do: 'POST ~/_bulk_docs', json: { w: 2, docs: [{}] }, status: 202 },
    { do: 'COPY ~/a?batch=ok', headers: { destination: 'copied' }, status: 201 },
    { do: 'GET ~/a?rev=9-abc&latest=true', status: 200, has: { _id: 'a' } },
    { do: 'GET ~/a?rev=x&latest=true', status: 400 },
    { do: 'GET ~/none?rev=9-abc&latest=true', status: 404 },
    { do: 'GET ~/_design%2Fd/file.txt', status: 301 },
    {
      do: 'PUT ~/mixed',
      json: {},
      headers: { 'content-type': 'multipart/mixed; boundary=b' },
      status: 201,
    },
    { do: 'PUT ~/related', json: {}, headers: { 'content-type': 'multipart/related' }, status: 201 },
    { do: 'PUT ~/none?atts_since=x', json: {}, status: 400, has: { reason: 'invalid UTF-8 JSON' } },
    { do: 'PUT ~/none?open_revs=["x"]', json: {}, status: 400, has: { reason: 'Invalid rev format' } },
    { do: 'PUT ~/bare', json: { _attachments: { f: null, g: [], _h: 'x', i: { data: '' } } }, status: 201 },
    { do: 'GET ~/bare', status: 200, has: { '_attachments.i.length': 0, '_attachments.f': undefined } },
    { do: 'PUT ~/a', json: { _revisions: { start: 1, ids: ['e', 'd'] } }, status: 409 },
    {
      do: 'PUT ~/old?new_edits=false',
      json: { _revisions: { start: 1, ids: ['e', 'd'] } },
      status: 201,
      has: { rev: '1-e' },
    },
    { do: 'POST ~/_bulk_docs', json: { docs: [{}], all_or_nothing: true }, status: 417 },
    {
      do: 'POST ~/_bulk_docs',
      json: { docs: [{ _id: 'x', _rev: '1-a' }], all_or_nothing: true, new_edits: false },
      status: 201,
    },
    {
      do: 'POST ~/_bulk_get',
      json: { docs: [{ id: '', rev: '2-z' }] },
      status: 200,
      has: { 'results.0.docs.0.error.rev': null, 'results.0.docs.0.error.error': 'illegal_docid' },
    },
    {
      do: 'POST ~/_bulk_get?rev=1-a',
      json: {},
      status: 400,
      has: { reason: "Missing JSON list of 'docs'." },
    },
    {
      do: 'POST ~/_bulk_get?rev=1-a',
      json: { docs: [] },
      headers: { 'content-type': 'text/plain' },
      status: 415,
    },
  ],
);

area(
  'Feeds',
  [{ _id: 'a' }],
  [
    { do: 'GET ~/_changes?limit=-1', status: 200, has: { 'results.length': 1 } },
    { do: 'GET ~/_changes?since=abc', status: 400 },
    { do: 'GET ~/_changes?since=abc&descending=true', status: 200, has: { 'results.length': 1 } },
    { do: 'GET ~/_changes?since=now&descending=true', status: 200, has: { 'results.length': 1 } },
    { do: 'GET ~/_changes?seq_interval=0', status: 400, has: { reason: 'invalid_seq_interval' } },
    { do: 'GET ~/_changes?seq_interval=x', status: 400, has: { reason: 'invalid_seq_interval' } },
  ],
);

const emitsOne = 'function (doc) { emit(1); }';

area(
  'Modules of views',
  [
    { _id: '_design/both', views: { lib: { map: emitsOne, one: 'exports.one = 1' } } },
    { _id: '_design/lib', views: { lib: { one: 'exports.one = 1' } } },
  ],
  [
    { do: 'GET ~/_design/both/_view/lib', status: 200, has: { total_rows: 0 } },
    { do: 'GET ~/_design/lib/_view/lib', status: 404, has: { reason: 'missing_named_view' } },
    { do: 'PUT ~/_design/n', json: { views: { lib: { map: 1 } } }, status: 400 },
    {
      do: 'PUT ~/_design/n',
      json: { views: { lib: { map: 'exports.one = 1' } } },
      status: 400,
      has: { error: 'compilation_error' },
    },
    { do: 'PUT ~/_design/n', json: { views: { lib: { reduce: '_nope' } } }, status: 201 },
  ],
);

const update = 'function (doc, req) { return [req.query.n ? 5 : {_id: req.id}, "done"]; }';
const rewrites = 'function (req) { throw {forbidden: "no"}; }';

area(
  'Functions',
  [{ _id: '_design/d', updates: { update }, rewrites, lists: {}, views: {} }],
  [
    { do: 'POST ~/_design/d/_update/update/new?w=2', json: {}, status: 202 },
    { do: 'POST ~/_design/d/_update/update/other?n=1', json: {}, status: 200 },
    { do: 'GET ~/other', status: 404 },
    { do: 'GET ~/_design/d/_rewrite/x', status: 500, has: { error: 'rewrite_error' } },
  ],
);

const map = 'function (doc) { emit(doc._id); }';

area(
  'Views',
  [
    { _id: 'a', _attachments: { x: { data: 'YQ==', content_type: 'text/plain' } } },
    { _id: '_design/d', views: { v: { map } } },
  ],
  [
    {
      do: 'GET ~/_design/d/_view/v?sorted=false&update_seq=true',
      status: 200,
      has: { total_rows: undefined, offset: undefined, update_seq: undefined, 'rows.length': 1 },
    },
    ...['_all_docs', '_design/d/_view/v'].map((listing) => ({
      do: `GET ~/${listing}?key="a"&include_docs=true&attachments=true&attachments=false`,
      status: 200,
      has: { 'rows.0.doc._attachments.x.data': 'YQ==' },
    })),
    ...['limit=0', 'key=1', 'keys=[]', 'keys=[1]'].map((query) => ({
      do: `GET ~/_design/d/_view/v?sorted=false&${query}`,
      status: 200,
      has: { total_rows: 1, 'rows.length': 0 },
    })),
    ...[0, 1, 2].map((skip) => ({
      do: `GET ~/_design/d/_view/v?keys=[]&skip=${skip}`,
      status: 200,
      has: { total_rows: 1, offset: Math.min(skip, 1), 'rows.length': 0 },
    })),
    { do: 'GET ~/_design/d/_view/v?sorted=x', status: 400 },
  ],
);

answerAreas(client, '?q=1')(
  'Views of one shard',
  [{ _id: 'a' }, { _id: '_design/d', views: { v: { map } } }],
  [{ do: 'GET ~/_design/d/_view/v?sorted=false', status: 200, has: { total_rows: 1, offset: 0 } }],
);

const notUsed = 'was not used because it';
const counted = { execution_stats: true };

area(
  'Queries',
  [{ _id: 'A' }, { _id: 'a', n: 1 }, { _id: '_design/d' }, { _id: '_design/e', n: 1 }],
  [
    {
      do: 'POST ~/_find',
      json: { selector: {}, use_index: '' },
      status: 200,
      has: {
        warning: `_design/ ${notUsed} does not contain a valid index for this query.\nNo matching index found, create an index to optimize query time.`,
      },
    },
    { do: 'POST ~/_find', json: { selector: {}, use_index: ['a', ''] }, status: 200 },
    { do: 'POST ~/_find', json: { selector: {}, use_index: ['a', 'b', 'c'] }, status: 400 },
    {
      do: 'POST ~/_explain',
      json: { selector: {}, bookmark: 'x' },
      status: 200,
      has: { 'opts.bookmark': 'x' },
    },
    { do: 'POST ~/_find', json: { selector: {}, bookmark: 'x' }, status: 400 },
    {
      do: 'POST ~/_find',
      json: { nope: 1, skip: true, selector: {} },
      status: 400,
      has: { error: 'invalid_non_neg_integer' },
    },
    {
      do: 'POST ~/_find',
      json: { skip: -1, selector: 5 },
      status: 400,
      has: { error: 'invalid_selector_json' },
    },
    {
      do: 'POST ~/_index',
      json: { nope: 1, index: { fields: ['a'] }, type: 5 },
      status: 400,
      has: { error: 'invalid_string' },
    },
    {
      do: 'POST ~/_find',
      json: { selector: {}, ...counted },
      status: 200,
      has: { 'execution_stats.total_docs_examined': 2, 'execution_stats.total_keys_examined': 2 },
    },
    {
      do: 'POST ~/_find',
      json: { selector: {}, limit: 1, ...counted },
      status: 200,
      has: { 'execution_stats.total_docs_examined': 2 },
    },
    {
      do: 'POST ~/_find',
      json: { selector: { n: 1 }, ...counted },
      status: 200,
      has: { 'execution_stats.total_docs_examined': 3 },
    },
  ],
);

const only = { selector: { n: { $gt: 0 } }, allow_fallback: false };

area(
  'Queries with one index',
  [{ _id: 'a', n: 1 }],
  [
    { do: 'POST ~/_index', json: { index: { fields: ['n'] }, ddoc: 'd', name: 'by-n' }, status: 200 },
    { do: 'POST ~/_find', json: only, status: 200 },
    { do: 'POST ~/_find', json: { ...only, sort: ['n'] }, status: 400, has: { error: 'invalid_index' } },
    { do: 'POST ~/_find', json: { ...only, sort: ['n'], use_index: 'd' }, status: 200 },
    {
      do: 'POST ~/_find',
      json: { selector: { _id: { $in: [] } } },
      status: 200,
      has: { docs: [], bookmark: 'nil' },
    },
    {
      do: 'POST ~/_find',
      json: { selector: { n: { $gt: 3, $lt: 1 } } },
      status: 200,
      has: { docs: [], bookmark: undefined },
    },
  ],
);

area(
  'The server',
  [],
  [
    {
      do: 'GET /_session',
      headers: { authorization: 'Basic xx' },
      status: 400,
      has: { reason: 'Authorization header has invalid base64 value' },
    },
    { do: 'GET /_scheduler/docs?limit=x', status: 400, has: { reason: 'Invalid value for integer: "x"' } },
    {
      do: 'GET /_scheduler/docs?skip=-1',
      status: 400,
      has: { reason: 'Invalid value for positive integer: "-1"' },
    },
    { do: 'GET /_scheduler/jobs?skip=-1', status: 400, has: { reason: 'skip not in range of [0,infinity]' } },
    { do: 'GET /_scheduler/jobs?limit=x', status: 400, has: { reason: 'limit must be an integer' } },
    { do: 'GET /_scheduler/docs/nope/_replicator', status: 404, has: { error: 'not_found' } },
  ],
);

area(
  'Design documents, without a login',
  [{ _id: '_design/d' }],
  [
    { do: 'PUT ~/_design/d', json: {}, anonymous: true, status: 409 },
    { do: 'POST ~', json: { _id: '_design/d' }, anonymous: true, status: 409 },
    { do: 'PUT ~/_design/d', json: { _rev: '1-abc' }, anonymous: true, status: 409 },
    { do: 'DELETE ~/_design/d', anonymous: true, status: 409 },
    { do: 'DELETE ~/_design/none', anonymous: true, status: 404 },
    { do: 'PUT ~/_design/new', json: {}, anonymous: true, status: 401 },
    { do: 'PUT ~/_design/new?batch=ok', json: {}, anonymous: true, status: 401 },
    { do: 'PUT ~/_design/new?new_edits=false', json: { _rev: '1-a' }, anonymous: true, status: 401 },
  ],
);

test('the first part of a multipart document must be JSON', async () => {
  const db = await newDb(client);
  const part = (type: string): string => `--b\r\nContent-Type: ${type}\r\n\r\n{}\r\n--b--`;
  const headers = { 'content-type': 'multipart/related; boundary=b' };
  const put = async (type: string): Promise<number> =>
    (await client.send('PUT', `${db}/doc`, { raw: part(type), headers })).status;
  assert.equal(await put('text/plain'), 415);
  assert.equal(await put('application/json; charset=utf-8'), 201);
});
