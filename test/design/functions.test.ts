import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused, revOf } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer({ config: { couchdb: { os_process_timeout: '4000' } } });

async function designDb(ddoc: Record<string, unknown>): Promise<string> {
  const db = await newDb(client);
  assertOk(await client.put(`${db}/_design/d`, ddoc), 201);
  return db;
}

describe('what a function answers', () => {
  const shows = {
    answer: 'function(doc, req){ return JSON.parse(req.query.answer) }',
    loop: 'function(){ for (;;); }',
    big: 'function(){ return "x".repeat(3e6) }',
  };

  test('is sent as it is: status, headers, body of any kind', async () => {
    const db = await designDb({ shows });
    const answered = (answer: unknown) =>
      client.get(`${db}/_design/d/_show/answer?answer=${encodeURIComponent(JSON.stringify(answer))}`);
    const teapot = await answered({
      code: 418,
      headers: { 'x-own': 'é', 'content-type': 'text/tea' },
      body: 'é',
    });
    assert.equal(teapot.status, 418);
    assert.equal(teapot.headers['content-type'], 'text/tea');
    assert.equal(Buffer.from(teapot.headers['x-own'] as string, 'latin1').toString(), 'é');
    assert.equal(teapot.text, 'é');
    assert.deepEqual((await answered({ json: { a: [1] } })).body, { a: [1] });
    assert.equal((await answered({ base64: 'aGVsbG8=' })).text, 'hello');
    assert.equal((await answered({ base64: 'aGVs\nbG8=' })).text, 'hello');
    const plain = await answered('text');
    assert.equal(plain.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(plain.headers['content-security-policy'], 'sandbox');
    assert.equal((await client.get(`${db}/_design/d/_show/big`)).text.length, 3e6);
  });

  test('cannot break the connection or the server', async () => {
    const db = await designDb({ shows });
    const answered = (answer: unknown) =>
      client.get(`${db}/_design/d/_show/answer?answer=${encodeURIComponent(JSON.stringify(answer))}`);
    const wrong: unknown[] = [
      { code: 99 },
      { code: 'x' },
      { code: 1000 },
      { code: 200.5 },
      { headers: { 'bad name': 'x' } },
      { headers: { 'X-A': 'a\r\nSet-Cookie: x=y' } },
      { headers: { '': 'x' } },
      { base64: {} },
      { base64: '%%%' },
      { base64: 'aGk' },
    ];
    for (const answer of wrong) {
      assertRefused(await answered(answer), 500, 'render_error');
    }
    const own = await answered({
      headers: { 'Content-Length': '5', 'Transfer-Encoding': 'x', Connection: 'x' },
    });
    assertOk(own, 200);
    assert.equal(own.headers['content-length'], '0');
    assertOk(await answered({ code: 204, body: 'nobody reads this' }), 204);
    assertRefused(await client.get(`${db}/_design/d/_show/loop`), 500, 'os_process_error');
    assertOk(await answered({}), 200);
  });
});

describe('headers that speak for the whole server', () => {
  const headers = {
    'Set-Cookie': 'AuthSession=forged; Path=/',
    'set-cookie2': 'a=b',
    'Access-Control-Allow-Origin': '*',
    'ACCESS-CONTROL-ALLOW-CREDENTIALS': 'true',
    'Content-Security-Policy': "default-src 'unsafe-inline'",
    'WWW-Authenticate': 'Basic realm="give me your password"',
    'Clear-Site-Data': '"*"',
    'Service-Worker-Allowed': '/',
    'Strict-Transport-Security': 'max-age=1',
    'X-Frame-Options': 'ALLOWALL',
    'Cross-Origin-Opener-Policy': 'unsafe-none',
    'Content-Length': '1',
    'Transfer-Encoding': 'chunked, chunked',
    Connection: 'close',
    'X-Mine': 'kept',
    Location: '/elsewhere',
  };
  const answer = `{ headers: ${JSON.stringify(headers)}, body: 'text', code: 200 }`;
  const ddoc = {
    views: { v: { map: 'function(doc){ emit(1) }' } },
    shows: { f: `function(){ return ${answer} }`, g: `function(){ start(${answer}); send('text') }` },
    updates: { f: `function(){ return [null, ${answer}] }` },
    lists: { f: `function(){ start(${answer}); send('text') }` },
    rewrites: `function(){ return ${answer} }`,
  };

  test('are never those of a function', async () => {
    const db = await designDb(ddoc);
    const answers = [
      await client.get(`${db}/_design/d/_show/f`),
      await client.get(`${db}/_design/d/_show/g`),
      await client.post(`${db}/_design/d/_update/f`, {}),
      await client.get(`${db}/_design/d/_list/f/v`),
      await client.get(`${db}/_design/d/_rewrite/x`),
    ];
    for (const each of answers) {
      assert.equal(each.status, 200, each.text);
      assert.equal(each.text, 'text');
      assert.equal(each.headers['x-mine'], 'kept');
      assert.equal(each.headers['location'], '/elsewhere');
      assert.equal(each.headers['content-security-policy'], 'sandbox');
      const sent = Object.keys(headers).map((name) => name.toLowerCase());
      const allowed = ['x-mine', 'location', 'content-security-policy'];
      const framing = ['content-length', 'transfer-encoding', 'connection'];
      for (const name of sent.filter((one) => ![...allowed, ...framing].includes(one)))
        assert.equal(each.headers[name], undefined, name);
    }
  });

  test('but for the policy, where the server sends none', async () => {
    const db = await designDb(ddoc);
    await client.put('/_node/_local/_config/csp/showlist_enable', 'false');
    const { headers: sent } = await client.get(`${db}/_design/d/_show/f`);
    assert.equal(sent['content-security-policy'], "default-src 'unsafe-inline'");
    assert.equal(sent['set-cookie'], undefined);
    await client.delete('/_node/_local/_config/csp/showlist_enable');
  });
});

describe('a function that throws what is no error', () => {
  const thrown = ['null', 'undefined', '0', 'false', '""', 'Symbol("x")', '1n', '[]', '{}', 'function(){}'];

  test('is reported as such, not as one that needs too much memory', async () => {
    const shows = Object.fromEntries(thrown.map((each, i) => [`f${i}`, `function(){ throw ${each} }`]));
    const lists = { f: 'function(){ throw null }' };
    const views = {
      v: { map: 'function(doc){ if (doc._id == "a") throw null; emit(doc._id) }' },
      r: { map: 'function(doc){ emit(doc._id) }', reduce: 'function(){ throw null }' },
    };
    const db = await designDb({ shows, lists, views });
    for (const [i, what] of thrown.entries()) {
      const { status, text } = await client.get(`${db}/_design/d/_show/f${i}`);
      assert.equal(status, 500, text);
      assert.match(text, /render_error/, what);
      assert.doesNotMatch(text, /memory/, what);
    }
    assert.doesNotMatch((await client.get(`${db}/_design/d/_list/f/v`)).text, /memory/);
    for (const id of ['a', 'b']) assertOk(await client.put(`${db}/${id}`, {}), 201);
    const { body } = await client.get(`${db}/_design/d/_view/v`);
    assert.deepEqual(
      body.rows.map(({ id }: { id: string }) => id),
      ['b'],
    );
    assert.doesNotMatch((await client.get(`${db}/_design/d/_view/r`)).text, /memory/);
  });

  test('refuses the document, as a validation', async () => {
    for (const each of thrown) {
      const db = await designDb({ validate_doc_update: `function(){ throw ${each} }` });
      const { status, text } = await client.put(`${db}/doc`, {});
      assert.ok(status >= 400, each);
      assert.doesNotMatch(text, /memory/, each);
    }
  });
});

describe('the request that functions see', () => {
  const request = 'function(doc, req){ return {json: req} }';

  test('holds no password and no session', async () => {
    const db = await designDb({ shows: { s: request } });
    const login = await client.anonymous.post('/_session', { name: 'admin', password: 'secret' });
    const session = login.headers['set-cookie']![0]!.split(';')[0]!;
    const { body } = await client.get(`${db}/_design/d/_show/s`, {
      cookie: `a=1; ${session}; b=2`,
      'x-my-header': 'mine',
      'x-auth-svc-token': 'a token',
    });
    const seen = JSON.stringify(body);
    for (const secret of [session.split('=')[1]!, 'a token', 'Basic '])
      assert.ok(!seen.includes(secret), seen);
    assert.equal(body.userCtx.name, 'admin');
    assert.equal(body.headers.Authorization, undefined);
    assert.equal(body.headers['X-My-Header'], 'mine');
    assert.deepEqual(body.cookie, {});
    assert.equal(body.headers.Cookie, undefined);
  });

  test('holds forms, and what is beyond ASCII', async () => {
    const db = await designDb({ shows: { s: request } });
    const { body } = await client.send('POST', `${db}/_design/d/_show/s/%C3%A9?q=%F0%9F%98%80`, {
      raw: 'a=%C3%A9+b&c=2',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.deepEqual(body.form, { a: 'é b', c: '2' });
    assert.deepEqual([body.id, body.query, body.body], ['é', { q: '😀' }, 'a=%C3%A9+b&c=2']);
    assert.deepEqual(body.path, [db.slice(1), '_design', 'd', '_show', 's', 'é']);
  });

  test('holds the fields of forms that are sent with POST and PUT only', async () => {
    const db = await designDb({
      updates: { u: 'function(doc, req){ return [null, {json: {form: req.form, body: req.body}}] }' },
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = async (method: string, options: { raw?: string } = {}) =>
      (await client.send(method, `${db}/_design/d/_update/u/x`, { ...options, headers })).body as unknown;
    const raw = 'a=1&b';
    for (const method of ['POST', 'PUT'])
      assert.deepEqual(await send(method, { raw }), { form: { a: '1', b: '' }, body: raw });
    assert.deepEqual(await send('DELETE', { raw }), { form: {}, body: raw });
    assert.deepEqual(await send('DELETE'), { form: {}, body: 'undefined' });
  });
});

describe('update functions', () => {
  test('save what they give back, under the id they give it', async () => {
    const db = await designDb({
      updates: {
        u: `function(doc, req){ if (!doc) return [{_id: req.id, n: 1}, 'made']; doc.n++; return [doc, {code: 202, json: doc.n}] }`,
        design: `function(doc, req){ return [{_id: '_design/x'}, 'x'] }`,
        wrong: `function(doc, req){ return [{_id: '_no', n: 1}, 'x'] }`,
        text: `function(doc, req){ return ['text', 'x'] }`,
        nameless: `function(doc, req){ return [{n: 1}, 'x'] }`,
      },
    });
    const made = await client.put(`${db}/_design/d/_update/u/my%2Fdoc`);
    assert.deepEqual([made.status, made.text], [201, 'made']);
    assert.equal(made.headers['x-svc-id'], 'my%2Fdoc');
    assert.match(made.headers['x-svc-update-newrev'] as string, revOf(1));
    assert.equal(made.headers['x-couch-id'], 'my%2Fdoc');
    const changed = await client.put(`${db}/_design/d/_update/u/my%2Fdoc`);
    assert.deepEqual([changed.status, changed.body], [202, 2]);
    for (const path of ['nameless', 'nameless/x'])
      assertRefused(await client.post(`${db}/_design/d/_update/${path}`, {}), 400, 'illegal_docid');
    await client.put(`${db}/_security`, { admins: {}, members: {} });
    assertRefused(await client.anonymous.post(`${db}/_design/d/_update/design`, {}), 401, 'unauthorized');
    assertRefused(await client.post(`${db}/_design/d/_update/wrong`, {}), 400, 'illegal_docid');
    assert.equal((await client.post(`${db}/_design/d/_update/text`, {})).status, 200);
  });
});

describe('list functions', () => {
  const views = { v: { map: 'function(doc){ emit(doc.n, doc._id) }', reduce: '_count' } };
  const lists = {
    keys: `function(head, req){ start({headers: {'Content-Type': 'text/plain'}}); var r; while (r = getRow()) send(r.key + ' ') }`,
    json: `function(head, req){ provides('json', function(){ var a = [], r; while (r = getRow()) a.push(r); return toJSON(a) });
      provides('html', function(){ return '<p>' }) }`,
    head: `function(head, req){ start(JSON.parse(req.query.head)); return 'x' }`,
    late: `function(){ getRow(); send('x'); getRow(); throw new Error('too late') }`,
  };

  test('stream the rows of large views, of this or another design document', async () => {
    const db = await designDb({ lists });
    assertOk(await client.put(`${db}/_design/other`, { views }), 201);
    const docs = Array.from({ length: 6_000 }, (_, n) => ({ _id: `d${n}`, n }));
    await client.post(`${db}/_bulk_docs`, { docs });
    const { status, text, headers } = await client.get(`${db}/_design/d/_list/keys/other/v?reduce=false`);
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/plain');
    assert.equal(text, docs.map(({ n }) => `${n} `).join(''));
    assertRefused(await client.get(`${db}/_design/d/_list/keys/v`), 404, 'not_found');
    const some = await client.get(
      `${db}/_design/d/_list/json/other/v?reduce=false&limit=1&include_docs=true`,
    );
    assert.equal(some.body[0].doc.n, 0);
  });

  test('have documents with the bytes of their attachments', async () => {
    const db = await designDb({ lists, views });
    await client.put(`${db}/a`, { n: 1, _attachments: { x: { data: 'aGk=', content_type: 'a/b' } } });
    await client.put(`${db}/b`, { n: 2 });
    const { body } = await client.get(
      `${db}/_design/d/_list/json/v?reduce=false&include_docs=true&attachments=true`,
    );
    assert.equal(body[0].doc._attachments.x.data, 'aGk=');
    assert.equal(body[1].doc.n, 2);
  });

  test('answer 304 to a fitting If-None-Match, until something changes', async () => {
    const db = await designDb({ lists, views });
    const path = `${db}/_design/d/_list/json/v`;
    const etag = (await client.get(path)).headers.etag!;
    assertOk(await client.get(path, { 'if-none-match': etag }), 304);
    assertOk(await client.get(path, { 'if-none-match': etag, accept: 'text/html' }), 200);
    await client.put(`${db}/a`, { n: 1 });
    assertOk(await client.get(path, { 'if-none-match': etag }), 200);
    assertOk(await client.get(`${path}?format=html`), 200);
    assert.equal((await client.get(`${path}?format=html`)).text, '<p>');
    assertRefused(await client.get(`${path}?format=pdf`), 406, 'not_acceptable');
  });

  test('cannot begin an answer that is none', async () => {
    const db = await designDb({ lists, views });
    for (const head of [{ code: 99 }, { headers: { 'X-A': 'a\r\nb' } }]) {
      const path = `${db}/_design/d/_list/head/v?head=${encodeURIComponent(JSON.stringify(head))}`;
      assertRefused(await client.get(path), 500, 'render_error');
    }
    assertOk(await client.get(`${db}/_design/d/_list/head/v?head={"code":203}`), 203);
  });

  test('that fail in the midst of an answer end it with the error', async () => {
    const db = await designDb({ lists, views });
    assert.match((await client.get(`${db}/_design/d/_list/late/v`)).text, /"error":"render_error"/);
    assertOk(await client.get(`${db}/_design/d/_list/keys/v`), 200);
  });
});

describe('design documents', () => {
  test('of wrong form are refused when they are saved', async () => {
    const db = await newDb(client);
    const wrong: Record<string, unknown>[] = [
      { language: 5 },
      { options: [] },
      { options: { include_design: 'x' } },
      { filters: 'x' },
      { filters: { f: 5 } },
      { shows: { s: [] } },
      { updates: null },
      { lists: 1 },
      { rewrites: {} },
      { validate_doc_update: {} },
      { views: { __proto__x: 1 } },
    ];
    for (const ddoc of wrong)
      assertRefused(await client.put(`${db}/_design/w`, ddoc), 400, 'invalid_design_doc');
    assertOk(
      await client.put(`${db}/_design/w`, { rewrites: 'function(){}', filters: { a: { b: 'c' } } }),
      201,
    );
  });

  test('whose views cannot be compiled are refused, in bulk and replicated too', async () => {
    const db = await newDb(client);
    const broken = { views: { v: { map: 'function(doc){' } } };
    assertRefused(await client.put(`${db}/_design/a`, broken), 400, 'compilation_error');
    const docs = [
      { _id: '_design/b', _rev: '1-b', ...broken },
      { _id: 'c', _rev: '1-c' },
    ];
    const { body } = await client.post(`${db}/_bulk_docs`, { docs, new_edits: false });
    assert.equal(body.length, 1);
    assert.equal(body[0].error, 'compilation_error');
    const endless = { views: { v: { map: '(function(){ for (;;); })()' } } };
    assertRefused(await client.put(`${db}/_design/a`, endless), 500, 'os_process_error');
  });

  test('in other languages are kept, and their functions are refused', async () => {
    const db = await newDb(client);
    assertOk(await client.put(`${db}/x`, {}), 201);
    const source = 'function () { return true }';
    const ddoc = {
      language: 'cobol',
      shows: { s: source },
      updates: { u: source },
      lists: { l: source },
      filters: { f: source },
      rewrites: source,
      views: { v: { map: 'function (doc) { emit(doc._id) }', reduce: '_count' }, w: { map: 'MOVE X TO Y.' } },
    };
    assertOk(await client.put(`${db}/_design/d`, ddoc), 201);
    const answers = [
      await client.get(`${db}/_design/d/_show/s`),
      await client.post(`${db}/_design/d/_update/u`, {}),
      await client.get(`${db}/_design/d/_list/l/v`),
      await client.get(`${db}/_design/d/_rewrite/x`),
      await client.get(`${db}/_changes?filter=d/f`),
      await client.get(`${db}/_changes?filter=_view&view=d/v`),
      await client.get(`${db}/_design/d/_view/v`),
      await client.get(`${db}/_design/d/_view/w?update=false`),
      await client.post(`${db}/_design/d/_view/v`, { keys: ['x'] }),
    ];
    for (const answer of answers) {
      assertRefused(answer, 500, 'unknown_query_language');
      assert.equal(answer.body.reason, 'cobol');
    }
    const several = await client.post(`${db}/_design/d/_view/v/queries`, { queries: [{}] });
    assertRefused(several, 500, 'unknown_query_language');
    assertRefused(await client.get(`${db}/_design/d/_view/none`), 404, 'not_found');
    assert.equal((await client.get(`${db}/_design/d/_info`)).body.view_index.language, 'cobol');
  });

  test('in other languages cannot judge documents, so that none is saved', async () => {
    const db = await newDb(client);
    const ddoc = { language: 'cobol', validate_doc_update: 'function () {}' };
    const { body } = await client.put(`${db}/_design/d`, ddoc);
    assertRefused(await client.put(`${db}/x`, {}), 500, 'unknown_query_language');
    const bulk = await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'y' }] });
    assert.equal(bulk.body[0].error, 'unknown_query_language');
    assertOk(await client.put(`${db}/_local/l`, {}), 201);
    assertOk(await client.delete(`${db}/_design/d?rev=${body.rev}`), 200);
    assertOk(await client.put(`${db}/x`, {}), 201);
  });
});
