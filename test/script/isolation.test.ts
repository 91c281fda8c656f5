import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { called, emitted, mapped, newHost } from './scene.js';

const { host } = newHost({ threads: 1 });
const doc = { _id: 'a', list: [3, 1] };

/** Changes whatever can be reached, and is looked for by the functions that come after it. */
const vandal = `function(doc){
  globalThis.mark = 'left';
  Object.prototype.mark = 'left';
  Array.prototype.map = Array.prototype.push = Array.prototype.join = function() { throw 1 };
  Object.defineProperty(Array.prototype, '0', {get: function() { return 'got' }, set: function() {}});
  JSON.parse = JSON.stringify = function() { return 'left' };
  String.prototype.split = Function.prototype.call = Function.prototype.apply = null;
  emit = log = sum = null; Reflect.apply = Array.isArray = null;
  RegExp.prototype.exec = Math.random = Date.now = null }`;
const probe = `function(doc){ emit([typeof mark, typeof {}.mark, typeof emit, [1].join(), JSON.stringify({})], doc.list) }`;
const untouched = [
  [
    ['undefined', 'undefined', 'function', '1', '{}'],
    [3, 1],
  ],
];

describe('what a function changes', () => {
  test('is not there for functions of other databases, on the same thread', async () => {
    await mapped(host, [vandal], [doc], { space: 'one' });
    const [rows] = await mapped(host, [probe], [doc], { space: 'two' });
    assert.deepEqual(rows![0], untouched);
  });

  test('is not there for other programs of the same database', async () => {
    await mapped(host, [vandal], [doc], { space: 'one' });
    const [rows] = await mapped(host, [probe], [doc], { space: 'one' });
    assert.deepEqual(rows![0], untouched);
    const ddoc = { filters: { f: 'function(doc){ return typeof mark == "undefined" }' } };
    assert.equal(await called(host, ddoc, ['filters', 'f'], [doc], 'one'), true);
  });

  test('does not break what runs it', async () => {
    const rows = await mapped(host, [vandal, 'function(doc){ emit(1, [2]) }'], [doc, doc], {
      space: 'three',
    });
    assert.equal(rows.length, 2);
    const { updates } = {
      updates: {
        u: `function(doc){ Object.prototype.toJSON = function() { return 'all' }; return [doc, 'x'] }`,
      },
    };
    assert.deepEqual(await called(host, { updates }, ['updates', 'u'], [{ a: 1 }, {}]), ['all', 'all']);
  });

  test('stays within its program', async () => {
    const count = 'function(doc){ n = typeof n == "undefined" ? 1 : n + 1; emit(n) }';
    const rows = await mapped(host, [count], [doc, doc], { space: 'four' });
    assert.deepEqual(rows, [[[[1, null]]], [[[2, null]]]]);
    assert.deepEqual(await mapped(host, [count], [doc], { space: 'four' }), [[[[1, null]]]]);
  });
});

test('a function finds no way out of its sandbox', async () => {
  const ways = [
    'typeof process',
    'typeof require("fs")',
    '(function(){}).constructor("return typeof process")()',
    '[].constructor.constructor("return typeof globalThis.process")()',
    'emit.constructor("return typeof process")()',
    'typeof emit.caller',
    'new Function("return typeof module")()',
    'import("fs")',
  ];
  for (const way of ways) {
    const rows = await emitted(host, `function(doc){ emit(${way}) }`).catch((error: { error: string }) => [
      [error.error],
    ]);
    // What `import` gives is a promise that nobody keeps.
    const nothing = ['undefined', 'compilation_error', '{}'];
    for (const [key] of rows as [unknown][])
      assert.ok(nothing.includes(typeof key === 'string' ? key : JSON.stringify(key)), way);
  }
});
