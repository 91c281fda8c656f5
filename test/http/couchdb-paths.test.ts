import { answerAreas } from '../support/answer-areas.js';
import { startServer } from '../support/server.js';

/** What CouchDB 3.4.3 answers to unusual methods, paths and functions. */
const client = await startServer();
const area = answerAreas(client);
const closed = { members: { names: ['somebody'] } };

area(
  'Access is checked before the method',
  [],
  [
    { do: 'PATCH /nosuch', status: 404 },
    { do: 'PUT ~/_security', json: closed, status: 200 },
    { do: 'PATCH ~', status: 405, headers: {} },
    { do: 'PATCH ~', anonymous: true, status: 401 },
    { do: 'GET ~/_all_docs/queries', anonymous: true, status: 401 },
    { do: 'GET ~/_all_docs/queries', status: 405 },
    { do: 'DELETE /_all_dbs', anonymous: true, status: 401 },
  ],
);

area(
  'Paths that answer every method alike',
  [{ _id: '_design/d' }],
  [
    { do: 'PATCH ~/_partition', status: 400, has: { reason: 'invalid_partition_req' } },
    { do: 'DELETE ~/_temp_view', status: 410 },
    { do: 'PATCH ~/_index/d', status: 404 },
    { do: 'PATCH /_reshard/nope', status: 404 },
    { do: 'POST /_node/_local/_config/a/b/c', status: 404, has: { reason: 'missing' } },
    { do: 'COPY /_node/_local/_config/a/b/c', status: 404 },
    { do: 'COPY ~/_design/d/_show', status: 404, has: { error: 'show_error' } },
    { do: 'PATCH ~/_design/d/_update', status: 404, has: { error: 'update_error' } },
    { do: 'PUT ~/_design/d/_list/l', status: 405 },
    { do: 'GET ~/_design/d/_list/l/v/x/y', status: 404, has: { error: 'list_error' } },
    { do: 'PATCH ~/_design/d/_rewrite/x', status: 404, has: { error: 'rewrite_error' } },
    { do: 'PUT ~/_design/nope/_info', status: 404 },
    { do: 'PUT ~/_design/d/_info', status: 405 },
    { do: 'GET ~/_design/d/_update/nope', status: 404 },
    { do: 'POST ~/_explain/x', json: { selector: {} }, status: 200 },
  ],
);

area(
  'Show functions',
  [
    {
      _id: '_design/d',
      shows: {
        code: "function () { return { code: '202', body: 'x' }; }",
        ignored: "function () { start({ code: 203, headers: { 'Content-Type': 'text/x' } }); return 'x'; }",
        sent: "function () { start({ code: 203 }); send('x'); return 'y'; }",
        path: 'function (doc, req) { return { json: req.requested_path.slice(-1) }; }',
      },
    },
  ],
  [
    { do: 'GET ~/_design/d/_show/code', status: 202 },
    { do: 'GET ~/_design/d/_show/ignored', status: 200 },
    { do: 'GET ~/_design/d/_show/sent', status: 200 },
    { do: 'GET ~/_design/d/_show/path?a=1', status: 200, has: { '0': 'path?a=1' } },
  ],
);

area(
  'New databases',
  [],
  [
    { do: 'PUT /X?q=nope', status: 400, has: { error: 'bad_request' } },
    { do: 'PUT ~x?placement=x', status: 400, has: { error: 'bad_request' } },
    { do: 'PUT ~x?placement=metro:2,rural:1&n=%2B2&q=2&q=0', status: 201 },
    { do: 'GET ~x', status: 200, has: { 'cluster.q': 2 } },
  ],
);

area(
  'Documents and attachments',
  [{ _id: 'a', _attachments: { f: { data: '' } } }],
  [
    { do: 'PUT ~/_x?rev=', json: {}, status: 400, has: { error: 'bad_request' } },
    { do: 'PUT ~/b', json: { _revisions: { start: 3, ids: [] } }, status: 201 },
    { do: 'DELETE ~/a/_x', status: 400 },
    { do: 'DELETE ~/a/f?rev=9-x&rev=', status: 409 },
    { do: 'POST ~/_bulk_docs', json: { docs: [], all_or_nothing: true }, status: 201 },
    {
      do: 'POST ~/_bulk_get',
      json: { docs: [{ id: 'a', rev: ['1-a'] }] },
      status: 200,
      has: { 'results.0.docs.0.error.reason': 'Invalid rev format' },
    },
    {
      do: 'POST ~/_bulk_get',
      json: { docs: [{ id: 'a', rev: '1-a', atts_since: ['x'] }] },
      status: 200,
      has: { 'results.0.docs.0.error.rev': 'x' },
    },
    { do: 'GET /_scheduler/docs?skip=3', status: 200, has: { offset: 0 } },
  ],
);

area(
  'Declarative queries',
  [],
  [
    { do: 'POST ~/_find', json: { selector: { $default: 1 } }, status: 400, has: { error: 'bad_field' } },
    { do: 'POST ~/_find', json: { selector: { a: { $text: 1 } } }, status: 400, has: { error: 'bad_field' } },
    { do: 'POST ~/_find', json: { selector: {}, r: 1e20 }, status: 200 },
    {
      do: 'POST ~/_find',
      json: { selector: {}, partition: 'p' },
      status: 400,
      has: { error: 'bad_request' },
    },
    { do: 'POST ~/_explain', json: { selector: {}, partition: 'p' }, status: 200 },
    {
      do: 'POST ~/_explain',
      json: { selector: { _id: { $lt: 'b' } } },
      status: 200,
      has: { 'mrargs.start_key': '', ranges: undefined },
    },
  ],
);

answerAreas(client, '?partitioned=true')(
  'Documents of partitioned databases',
  [],
  [
    { do: 'GET ~/p:', status: 404 },
    { do: 'PUT ~/p:', json: {}, status: 400 },
    { do: 'GET ~/x', status: 400 },
    { do: 'PATCH ~/x', status: 405 },
  ],
);

area(
  'Compaction of a design document',
  [{ _id: '_design/d', views: {} }],
  [
    { do: 'POST ~/_compact/d/x', json: {}, status: 202 },
    { do: 'POST ~/_compact/_design/d', json: {}, status: 404 },
    { do: 'GET ~/_compact/d/x', status: 405 },
  ],
);

area(
  'Filters of changes that are told in a body',
  [],
  [
    {
      do: 'POST ~/_changes?filter=_doc_ids',
      headers: { 'content-type': 'application/json' },
      status: 400,
      has: { reason: 'invalid UTF-8 JSON' },
    },
    {
      do: 'POST ~/_changes?filter=_selector',
      headers: { 'content-type': 'application/json' },
      status: 400,
      has: { reason: 'invalid UTF-8 JSON' },
    },
    { do: 'POST ~/_changes', headers: { 'content-type': 'application/json' }, status: 200 },
  ],
);
