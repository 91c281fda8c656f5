import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes, toBytes } from '../../src/base/bytes.js';
import { called, newHost, valueOf } from './scene.js';

const { host, logged } = newHost();

describe('reduce functions', () => {
  const reduce = async (source: string, groups: [unknown, unknown][]) => {
    const given = groups.map(([keys, values]) => ({
      keys: toBytes(JSON.stringify(keys)),
      values: toBytes(JSON.stringify(values)),
    }));
    return (await host.reduce('db', source, given)).map(valueOf);
  };

  test('get keys and values, or values alone', async () => {
    const source = 'function(keys, values, rereduce){ return [keys, sum(values), rereduce] }';
    assert.deepEqual(
      await reduce(source, [
        [[['é', 'a']], [1]],
        [[], [2, 3]],
      ]),
      [
        [[['é', 'a']], 1, false],
        [[], 5, false],
      ],
    );
    assert.deepEqual((await host.rereduce('db', source, [asBytes('[1,2]'), asBytes('[]')])).map(valueOf), [
      [null, 3, true],
      [null, 0, true],
    ]);
  });

  test('that throw or give nothing give null, and the log tells', async () => {
    logged.length = 0;
    const source = `function(keys, values){ if (values[0] == 1) throw 'oh'; return undefined }`;
    assert.deepEqual(
      await reduce(source, [
        [[], [1]],
        [[], [2]],
      ]),
      [null, null],
    );
    assert.ok(logged[0]!.includes('oh'));
  });

  test('must make less of what they are given, unless that is switched off', async () => {
    const source = 'function(keys, values){ return values }';
    const large = Array.from({ length: 300 }, () => 'some text of a row');
    const [small, refused] = await reduce(source, [
      [[], [1, 2]],
      [[], large],
    ]);
    assert.deepEqual(small, [1, 2]);
    assert.equal((refused as { error: string }).error, 'reduce_overflow_error');
    const { host: lenient } = newHost({ reduceLimit: () => 'false' });
    const values = toBytes(JSON.stringify(large));
    assert.deepEqual((await lenient.reduce('db', source, [{ keys: asBytes('[]'), values }])).map(valueOf), [
      large,
    ]);
  });

  test('that cannot be compiled are refused', async () => {
    await assert.rejects(reduce('sum(values)', [[[], [1]]]), { error: 'compilation_error' });
  });
});

describe('functions of design documents', () => {
  const ddoc = {
    _id: '_design/d',
    extra: 'more',
    lib: { x: 'exports.hi = "hello"' },
    filters: { f: 'function(doc, req){ return doc.n > req.min }', bad: 'function(){ throw new Error("x") }' },
    updates: {
      u: `function(doc, req){ return [doc, require('lib/x').hi + this.extra + this._id] }`,
      none: 'function(){ return [null] }',
      object: 'function(){ return [null, {code: 418, json: {a: 1}}] }',
    },
    shows: {
      s: 'function(doc, req){ return doc.title }',
      sent: `function(doc, req){ start({code: 201, headers: {'X-A': 'b'}}); send('one '); send(2); return ' three' }`,
      empty: 'function(){}',
      named: 'function(){ throw ["error", "teapot", "short"] }',
      object: 'function(){ throw {error: "teapot", reason: "short"} }',
      thrown: 'function(){ throw new TypeError("oh") }',
    },
    views: { v: { map: 'function(doc){ if (doc.n == 2) emit(1); if (doc.n == 3) throw 1 }' } },
    validate_doc_update: `function(doc, old, user, security){
      if (doc.how == 'forbidden') throw {forbidden: doc.what};
      if (doc.how == 'unauthorized') throw {unauthorized: [user.name, security.admins, old]};
      if (doc.how == 'text') throw 'text';
      if (doc.how == 'object') throw {other: 'thing'};
      if (doc.how == 'number') throw {other: 1};
      if (doc.how == 'error') nowhere();
      if (doc.how == 'null') throw null }`,
    rewrites: 'function(req){ return {path: req.path} }',
  };
  const call = (path: string[], ...given: unknown[]) => called(host, ddoc, path, given);

  test('filters say yes or no, and share what is given to all calls', async () => {
    const program = { id: 'filters', json: toBytes(JSON.stringify(ddoc)) };
    const values = await host.call(
      'db',
      program,
      ['filters', 'f'],
      [asBytes('[{"n":1}]'), asBytes('[{"n":3}]')],
      asBytes('[{"min":2}]'),
    );
    assert.deepEqual(values.map(valueOf), [false, true]);
    assert.equal(((await call(['filters', 'bad'], {}, {})) as { error: string }).error, 'render_error');
  });

  test('views filter by what they emit', async () => {
    const program = { id: 'views', json: toBytes(JSON.stringify(ddoc)) };
    const calls = [1, 2, 3].map((n) => asBytes(`[{"n":${n}}]`));
    const values = await host.call('db', program, ['views', 'v', 'map'], calls);
    assert.deepEqual(values.map(valueOf), [false, true, false]);
  });

  test('updates give a document and an answer', async () => {
    assert.deepEqual(await call(['updates', 'u'], { n: 1 }, {}), [{ n: 1 }, { body: 'hellomore_design/d' }]);
    assert.deepEqual(await call(['updates', 'object'], null, {}), [null, { code: 418, json: { a: 1 } }]);
    assert.equal(((await call(['updates', 'none'], null, {})) as { error: string }).error, 'render_error');
  });

  test('shows give an answer, also one that they send piece by piece', async () => {
    assert.deepEqual(await call(['shows', 's'], { title: 'é' }, {}), { body: 'é', headers: {} });
    assert.deepEqual(await call(['shows', 'sent'], {}, {}), {
      headers: { 'X-A': 'b' },
      body: 'one 2 three',
    });
    assert.deepEqual(await call(['shows', 'empty'], null, {}), { headers: {} });
  });

  test('fail by the names they choose', async () => {
    const teapot = { error: 'teapot', reason: 'short' };
    assert.deepEqual(await call(['shows', 'named'], null, {}), teapot);
    assert.deepEqual(await call(['shows', 'object'], null, {}), teapot);
    const { error, reason } = (await call(['shows', 'thrown'], null, {})) as {
      error: string;
      reason: string;
    };
    assert.equal(error, 'render_error');
    assert.match(reason, /TypeError: oh/);
  });

  test('validation functions refuse by objects', async () => {
    const validate = (how: string, what?: unknown) =>
      call(['validate_doc_update'], { how, what }, null, { name: 'me' }, { admins: 1 });
    assert.equal(await validate('fine'), null);
    assert.deepEqual(await validate('forbidden', 'no'), { error: 'forbidden', reason: 'no' });
    assert.deepEqual(await validate('forbidden', { a: 1 }), { error: 'forbidden', reason: { a: 1 } });
    assert.deepEqual(await validate('unauthorized'), { error: 'unauthorized', reason: ['me', 1, null] });
    assert.deepEqual(await validate('text'), { error: 'unknown_error', reason: 'text' });
    assert.deepEqual(await validate('object'), { error: 'unknown_error', reason: 'thing' });
    assert.deepEqual(await validate('number'), { error: 'unknown_error', reason: '1' });
    assert.equal(((await validate('error')) as { error: string }).error, 'ReferenceError');
    assert.ok('error' in ((await validate('null')) as object));
  });

  test('rewrites give any value', async () => {
    assert.deepEqual(await call(['rewrites'], { path: ['a'] }), { path: ['a'] });
  });

  test('that are not there are not found', async () => {
    const missing = { error: 'not_found', reason: 'missing json key: none' };
    await assert.rejects(call(['shows', 'none']), missing);
    await assert.rejects(call(['none', 'x']), missing);
    await assert.rejects(call(['shows', 'toString']), { error: 'not_found' });
  });

  test('that are no functions do not compile', async () => {
    for (const source of [{ nested: 'function(){}' }, '5', ' ']) {
      await assert.rejects(called(host, { shows: { s: source } }, ['shows', 's'], []), {
        error: 'compilation_error',
      });
    }
  });
});

describe('provides', () => {
  const ddoc = {
    shows: {
      s: `function(doc, req){
        provides('html', function(){ return 'html' });
        provides('json', function(){ return {json: 1} });
        registerType('foo', 'application/foo', 'application/x-foo');
        provides('foo', function(){ return 'foo' }) }`,
    },
  };
  const show = (request: object) => called(host, ddoc, ['shows', 's'], [null, request]);
  const accepting = async (accept: string) => {
    const answer = (await show({ headers: { Accept: accept } })) as { headers?: Record<string, string> };
    return answer.headers?.['Content-Type'] ?? answer;
  };

  test('chooses by Accept', async () => {
    assert.equal(await accepting('text/html'), 'text/html; charset=utf-8');
    assert.equal(await accepting('application/x-foo'), 'application/x-foo');
    assert.equal(await accepting('*/*'), 'text/html; charset=utf-8');
    assert.equal(await accepting('text/html;q=0.3, application/json;q=0.9'), 'application/json');
    assert.equal(await accepting('application/*, text/plain'), 'application/json');
    assert.equal(await accepting('text/html;q=0, application/foo'), 'application/foo');
  });

  test('takes the first without Accept, and what `format` says before all', async () => {
    assert.deepEqual(await show({}), {
      body: 'html',
      headers: { 'Content-Type': 'text/html; charset=utf-8' },
    });
    assert.deepEqual(await show({ headers: { Accept: 'text/html' }, query: { format: 'json' } }), {
      json: 1,
      headers: { 'Content-Type': 'application/json' },
    });
  });

  test('refuses what nobody provides', async () => {
    assert.deepEqual(await accepting('image/png'), {
      error: 'not_acceptable',
      reason:
        'Content-Type image/png not supported, try one of: application/foo, application/x-foo, application/json, text/x-json, text/html; charset=utf-8',
    });
    const offered =
      'text/html; charset=utf-8, application/json, text/x-json, application/foo, application/x-foo';
    assert.deepEqual(await show({ query: { format: 'csv' } }), {
      error: 'not_acceptable',
      reason: `Content-Type csv not supported, try one of: ${offered}`,
    });
    assert.deepEqual(await show({ headers: { Accept: 'text/html' }, query: { format: 'csv' } }), {
      error: 'not_acceptable',
      reason: `Content-Type text/html not supported, try one of: ${offered}`,
    });
  });
});
