import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerAreas } from '../support/answer-areas.js';
import { newDb, startServer } from '../support/server.js';

/** What CouchDB 3.4.3 gives to functions, and what it takes for one. */
const client = await startServer();
const area = answerAreas(client);

const showQuery = 'function (doc, req) { return { json: req.query }; }';

area(
  'Functions get the parameters of views as values, and others as texts',
  [
    {
      _id: '_design/d',
      shows: { q: showQuery },
      updates: { q: 'function (doc, req) { return [null, { json: req.query }]; }' },
      filters: { q: 'function (doc, req) { return req.query.key === doc._id; }' },
    },
    { _id: 'a' },
    { _id: 'b' },
  ],
  [
    { do: 'GET ~/_design/d/_show/q?key="a"', status: 200, has: { key: 'a' } },
    { do: 'GET ~/_design/d/_show/q?startkey=[1,"b"]&endkey={}', status: 200, has: { startkey: [1, 'b'] } },
    {
      do: 'GET ~/_design/d/_show/q?descending=true&limit=1',
      status: 200,
      has: { descending: true, limit: '1' },
    },
    { do: 'GET ~/_design/d/_show/q?start_key="a"&x="b"', status: 200, has: { start_key: '"a"', x: '"b"' } },
    { do: 'POST ~/_design/d/_update/q?key=5', status: 200, has: { key: 5 } },
    {
      do: 'GET ~/_changes?filter=d/q&key="b"',
      status: 200,
      has: { 'results.length': 1, 'results.0.id': 'b' },
    },
    { do: 'GET ~/_design/d/_show/q?key=a', status: 400, has: { error: 'bad_request' } },
    { do: 'POST ~/_design/d/_update/q?startkey=', status: 400, has: { error: 'bad_request' } },
  ],
);

test('of the types of one name that a client takes alike, the last is the type of the answer', async () => {
  const db = await newDb(client);
  const provides = (name: string): string =>
    `function () { provides('${name}', function () { return 'x'; }); }`;
  await client.put(`${db}/_design/d`, { shows: { xml: provides('xml'), js: provides('js') } });
  for (const [show, accept, type] of [
    ['xml', '*/*', 'application/x-xml'],
    ['xml', 'application/*', 'application/x-xml'],
    ['xml', 'text/*', 'text/xml'],
    ['xml', 'application/xml, */*', 'application/xml'],
    ['js', '*/*', 'application/x-javascript'],
    ['js', 'text/javascript', 'text/javascript'],
  ] as const) {
    const { headers } = await client.get(`${db}/_design/d/_show/${show}`, { accept });
    assert.equal(headers['content-type'], type, `${show} for ${accept}`);
  }
});

const emitting = (helper: string): { map: string } => ({
  map: `${helper}function (doc) { emit(help(doc.n)); }`,
});

area(
  'What is declared before a function is its own',
  [
    {
      _id: '_design/d',
      views: {
        twice: emitting('function help(n) { return n * 2; }\n'),
        thrice: emitting('var help = function (n) { return n * 3; }; '),
        arrow: { map: 'let step = 1; (doc) => emit(doc.n + step)' },
        named: { map: 'function map(doc) { emit(doc.n); }; map' },
      },
      shows: { s: "var text = 'function (x)'; function () { return { json: { text: text } }; }" },
    },
    { _id: 'a', n: 5 },
  ],
  [
    { do: 'GET ~/_design/d/_view/twice', status: 200, has: { 'rows.0.key': 10 } },
    { do: 'GET ~/_design/d/_view/thrice', status: 200, has: { 'rows.0.key': 15 } },
    { do: 'GET ~/_design/d/_view/arrow', status: 200, has: { 'rows.0.key': 6 } },
    { do: 'GET ~/_design/d/_view/named', status: 200, has: { 'rows.0.key': 5 } },
    { do: 'GET ~/_design/d/_show/s', status: 200, has: { text: 'function (x)' } },
    { do: 'PUT ~/_design/e', json: { views: { v: { map: 'var x = 1;' } } }, status: 400 },
    { do: 'PUT ~/_design/e', json: { views: { v: { map: 'var x = ; function (doc) {}' } } }, status: 400 },
  ],
);

area(
  'Design documents are checked when they are deleted too, and names of reduces begin with the underscore',
  [],
  [
    {
      do: 'PUT ~/_design/d',
      json: { _deleted: true, views: 1 },
      status: 400,
      has: { error: 'invalid_design_doc' },
    },
    { do: 'PUT ~/_design/d', json: { _deleted: true, views: {} }, status: 200 },
    {
      do: 'PUT ~/_design/e',
      json: { views: { v: { map: 'function () {}', reduce: ' _sum' } } },
      status: 400,
      has: { error: 'compilation_error' },
    },
    {
      do: 'PUT ~/_design/e',
      json: { views: { v: { map: 'function () {}', reduce: '_sum ' } } },
      status: 201,
    },
  ],
);
