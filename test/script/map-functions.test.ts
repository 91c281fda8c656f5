import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FunctionError } from '../../src/base/errors.js';
import { emitted, mapped, newHost } from './scene.js';

const { host, logged } = newHost();

describe('map functions', () => {
  test('are taken in every form people write', async () => {
    const forms = [
      'function(doc){emit(doc._id)}',
      'function (doc) {\n  emit(doc._id);\n};',
      'function map(doc) { emit(doc._id) }',
      '(function(doc){emit(doc._id)})',
      'doc => emit(doc._id)',
      '(doc) => { emit(doc._id) };',
      '/* before */ function(doc){emit(doc._id)} // after',
      '// before\nfunction(doc){emit(doc._id)}\n/* after */ ;',
      'function(doc){ x = doc._id; emit(x); var x }',
      'function(doc){ with (doc) emit(_id) }',
      'function(doc){ emit(arguments[0]._id) }',
      'function(doc){ const {_id} = doc; emit(`${_id}`) }',
      'function(doc){ emit(helper(doc)) }; function helper(d) { return d._id }',
    ];
    for (const form of forms) assert.deepEqual(await emitted(host, form), [['a', null]], form);
  });

  test('emit what JSON can say, and null for the rest', async () => {
    const rows = await emitted(
      host,
      `function(doc){
        emit(); emit(undefined, undefined); emit(NaN, Infinity); emit(function(){}, Symbol('x'));
        emit(new Date(0), [undefined, function(){}]); emit({a: undefined, b: {toJSON: function(){return 'c'}}}, -0);
        emit(true, 1e21); emit('é中😀\\u0000"', [[[]]]); emit([1, [2, {c: 3}]], {}) }`,
    );
    assert.deepEqual(rows, [
      [null, null],
      [null, null],
      [null, null],
      [null, null],
      ['1970-01-01T00:00:00.000Z', [null, null]],
      [{ b: 'c' }, 0],
      [true, 1e21],
      ['é中😀\0"', [[[]]]],
      [[1, [2, { c: 3 }]], {}],
    ]);
  });

  test('keep the order of emission, over many documents and functions', async () => {
    const docs = Array.from({ length: 1_200 }, (_, n) => ({ _id: `d${n}`, n, pad: 'x'.repeat(n % 700) }));
    const rows = await mapped(
      host,
      [
        'function(doc){ for (var i = 0; i < doc.n % 4; i++) emit(doc.n, i) }',
        'function(doc){ doc.n = -1; emit(doc.n, {id: doc._id}) }',
        'function(doc){ emit([doc.n, doc.pad.length], doc._id) }',
      ],
      docs,
    );
    assert.deepEqual(
      rows,
      docs.map(({ _id, n, pad }) => [
        Array.from({ length: n % 4 }, (_, i) => [n, i]),
        [[n, { id: _id }]],
        [[[n, pad.length], _id]],
      ]),
    );
  });

  test('cannot change the document: assignments are lost, and methods that change something throw', async () => {
    const assign = `function(doc){ doc.n = 9; delete doc.o; doc.tags.length = 0; emit([doc.n, doc.o], doc.tags) }`;
    const push = `function(doc){ doc.tags.push('z'); emit(doc.n, doc.tags) }`;
    const look = 'function(doc){ emit([doc.n, doc.o], doc.tags) }';
    const rows = await mapped(host, [look, assign, push, look], [{ _id: 'a', n: 1, o: {}, tags: ['x'] }]);
    const seen = [[[1, {}], ['x']]];
    assert.deepEqual(rows, [[seen, seen, [], seen]]);
  });

  test('emit the same whether they are given whole documents or the members they mention', async () => {
    const bodies = [
      'emit(doc.a, doc.b)',
      'emit([doc.c, doc.missing], doc["d e"])',
      'if (doc.a > 2 || doc?.b) emit(doc._id, null)',
      'for (var i = 0; i < doc.l.length; i++) emit(doc.l[i], i)',
      'doc.l.forEach(function(x) { emit(x, doc.c) })',
      'var o = doc.o; for (var k in o) emit(k, o[k])',
      'doc.a = 5; emit(doc.a, doc.o && doc.o.x)',
      'delete doc.a; emit(typeof doc.a, doc.l.slice().sort())',
      'emit(doc.o === undefined ? 0 : doc.o.x.y.z)',
      'emit(Object.keys(doc), doc)',
      'emit(doc.hasOwnProperty("o"), "b" in doc)',
      'var d = doc; emit(d.a, d)',
    ];
    const docs = Array.from({ length: 40 }, (_, n) => ({
      _id: `d${n}`,
      a: n,
      ...(n % 2 ? { b: 'é"\\' } : {}),
      c: [{ x: 1 }],
      'd e': null,
      l: [n, 'y', 1.5, 'x'],
      ...(n % 3 ? { o: { x: n % 5 ? { y: { z: n } } : 1, é: {} } } : {}),
    }));
    const whole = await mapped(
      host,
      bodies.map((body) => `function(doc, nothing){ ${body} }`),
      docs,
    );
    const picked = await mapped(
      host,
      bodies.map((body) => `function(doc){ ${body} }`),
      docs,
    );
    assert.deepEqual(picked, whole);
    assert.ok(whole.flat(2).length > 500);
  });

  test('that throw lose the rows of that document, and the log tells', async () => {
    logged.length = 0;
    const rows = await mapped(
      host,
      [
        `function(doc){ emit(1); if (doc.bad) throw new Error('no'); emit(2) }`,
        `function(doc){ emit(3) }`,
        `function(doc){ var o = {}; o.o = o; emit(doc.bad ? o : 4) }`,
        `function(doc){ emit(doc.bad ? 5n : 5) }`,
      ],
      [{ _id: 'first' }, { _id: 'second', bad: true }, { _id: 'third' }],
    );
    const good = [
      [
        [1, null],
        [2, null],
      ],
      [[3, null]],
      [[4, null]],
      [[5, null]],
    ];
    assert.deepEqual(rows, [good, [[], [[3, null]], [], []], good]);
    assert.equal(logged.filter((message) => message.includes('second')).length, 3);
    assert.ok(logged.some((message) => message.includes('Error: no')));
  });

  test('that throw something fatal, or cannot be compiled, fail by their own names', async () => {
    const fatal = emitted(host, `function(doc){ throw ['fatal', 'my_error', 'my reason'] }`);
    await assert.rejects(fatal, { error: 'my_error', reason: 'my reason' });
    await assert.rejects(emitted(host, `function(doc){ throw 'fatal_error' }`), {
      error: 'map_runtime_error',
    });
    const refused = {
      'function(doc){': /SyntaxError/,
      '42': /does not eval to a function/,
      'emit(1)': /does not eval to a function/,
      'nothing(1)': /ReferenceError/,
      'async function(doc){}': /[Aa]synchronous/,
      'function* (doc){}': /[Aa]synchronous/,
      '  ': /^Expression does not eval to a function\. \( {2}\)$/,
    };
    for (const [source, reason] of Object.entries(refused)) {
      await assert.rejects(
        emitted(host, source),
        (error) =>
          error instanceof FunctionError &&
          String(error.error) === 'compilation_error' &&
          reason.test(error.reason),
        source,
      );
    }
    await assert.rejects(emitted(host, ''), { error: 'not_found', reason: 'missing function' });
  });

  test('find what CouchDB gives them, and neither clock nor network nor threads', async () => {
    const names = `emit sum log toJSON isArray getRow start send provides registerType require JSON Date Math RegExp`;
    const absent = `process setTimeout fetch XMLHttpRequest performance Atomics SharedArrayBuffer WebAssembly Promise
      print load parts globalThis.parts console`;
    const types = (list: string) => `[${list.split(/\s+/).map((name) => `typeof ${name}`)}]`;
    const [row] = await emitted(host, `function(doc){ emit(${types(names)}, ${types(absent)}) }`);
    const [present, missing] = row as [string[], string[]];
    assert.deepEqual(new Set(present), new Set(['function', 'object']));
    assert.deepEqual(new Set(missing), new Set(['undefined']));
    assert.deepEqual(
      await emitted(host, `function(doc){ emit([sum([1,2]), isArray([]), isArray({})], toJSON({a:[1]})) }`),
      [[[3, true, false], '{"a":[1]}']],
    );
  });

  test('log to the log of the server, within bounds', async () => {
    logged.length = 0;
    await emitted(host, `function(doc){ log('hello'); log({a: 1}); log('x'.repeat(1e6)) }`);
    assert.deepEqual(logged.slice(0, 2), ['hello', '{"a":1}']);
    assert.ok(logged[2]!.length < 10_000);
    logged.length = 0;
    await emitted(host, `function(doc){ for (var i = 0; i < 1e5; i++) log('again') }`);
    assert.ok(logged.length <= 100);
  });
});

describe('modules', () => {
  const lib = {
    math: 'exports.double = function(x){ return x * 2 }; exports.id = module.id',
    deep: { inner: `var m = require('../math'); exports.quad = function(x){ return m.double(m.double(x)) }` },
    replaced: 'module.exports = function(x){ return x + 1 }',
    one: `exports.early = 1; exports.two = require('./two').late`,
    two: `exports.late = require('views/lib/one').early`,
    broken: 'exports.x = ;',
  };
  const run = async (body: string) => {
    const [rows] = await mapped(host, [`function(doc){ ${body} }`], [{ _id: 'a' }], { lib });
    return rows![0];
  };

  test('are found in views.lib, by absolute and by relative paths', async () => {
    assert.deepEqual(await run(`emit(require('views/lib/math').double(4), require('views/lib/math').id)`), [
      [8, 'views/lib/math'],
    ]);
    assert.deepEqual(await run(`emit(require('views/lib/deep/inner').quad(2))`), [[8, null]]);
    assert.deepEqual(await run(`emit(require('views/lib/replaced')(1))`), [[2, null]]);
  });

  test('may need each other', async () => {
    assert.deepEqual(await run(`emit(require('views/lib/one').two)`), [[1, null]]);
  });

  test('that are missing, outside or broken are exceptions', async () => {
    for (const path of ['views/lib/none', 'other', '../x', 'views/lib/deep', 'views/lib/broken', '__proto__'])
      assert.deepEqual(await run(`emit(require('${path}'))`), [], path);
    assert.deepEqual(await run(`emit(require({}))`), []);
    assert.deepEqual(await run(`try { require('views/lib/none') } catch (e) { emit(e.error) }`), [
      ['invalid_require_path', null],
    ]);
  });
});
