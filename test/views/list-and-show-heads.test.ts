import assert from 'node:assert/strict';
import test from 'node:test';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
await client.put(`${db}/a`, {});
await client.put(`${db}/_design/d`, {
  views: { v: { map: 'function (doc) { emit(1); }' } },
  lists: {
    late: 'function () { getRow(); start({ code: 400, headers: { "X-My": "1" } }); send("bad"); }',
    second: 'function () { start({ code: 201 }); getRow(); start({ code: 202 }); send("x"); }',
    fails: 'function () { send("head"); getRow(); send(missing); }',
    failsUnsent: 'function () { getRow(); send(missing); }',
    silent: 'function () { start({ code: 202 }); while (getRow()); }',
  },
  shows: {
    plain: 'function () { start({ "X-H": "v" }); send("a"); return "b"; }',
    listed: 'function () { start({ code: 201, headers: { "X-H": "v" } }); send("a"); return "b"; }',
    ordered: `function () { send("1"); send("2"); provides("html", function () { send("4"); return "5"; }); return "3"; }`,
  },
});
const path = `${db}/_design/d`;

test('a list function may change the head until it sends something', async () => {
  const late = await client.get(`${path}/_list/late/v`);
  assert.deepEqual([late.status, late.headers['x-my'], late.text], [400, '1', 'bad']);
  assert.equal((await client.get(`${path}/_list/second/v`)).status, 202);
  assert.equal((await client.get(`${path}/_list/silent/v`)).status, 202);
  assert.equal((await client.send('OPTIONS', `${path}/_list/second/v`)).status, 202);
});

test('a list that fails after something was sent ends with the error', async () => {
  const { status, text } = await client.get(`${path}/_list/fails/v`);
  assert.equal(status, 200);
  assert.match(text, /^head\n\{"error":"render_error","reason":".*ReferenceError.*"\}\n$/);
  const unsent = await client.get(`${path}/_list/failsUnsent/v`);
  assert.deepEqual([unsent.status, unsent.body.error], [500, 'render_error']);
});

test('a show function gives headers to start, by themselves or as a list does', async () => {
  const plain = await client.get(`${path}/_show/plain`);
  assert.deepEqual([plain.status, plain.headers['x-h'], plain.text], [200, 'v', 'ab']);
  const listed = await client.get(`${path}/_show/listed`);
  assert.deepEqual([listed.status, listed.headers['x-h'], listed.text], [200, 'v', 'ab']);
});

test('what a show sends and returns stands before what it provides', async () => {
  assert.equal((await client.get(`${path}/_show/ordered`, { accept: 'text/html' })).text, '12345');
});
