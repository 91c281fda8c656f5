import { parse } from 'acorn';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toBytes } from '../base/bytes.js';
import { planMaps } from './map-plan.js';

/** The members that the only function is given, in order; undefined for all. */
function membersOf(source: string, hasModules = false): string[] | undefined {
  const [group] = planMaps(parse, [source], hasModules).groups;
  return group!.members && [...group!.members].sort();
}

/** The places of the functions that are run on the same documents, group by group. */
const groupsOf = (...sources: string[]): number[][] =>
  planMaps(parse, sources, false).groups.map(({ which }) => [...which]);

describe('the members that a map function is given', () => {
  test('are those it names', () => {
    assert.deepEqual(membersOf('function (doc) { emit(doc.type, doc.total) }'), ['total', 'type']);
    assert.deepEqual(membersOf('function map(d) { if (d.a && d?.b) emit(d["c"], d [ \'x y\' ]) }'), [
      'a',
      'b',
      'c',
      'x y',
    ]);
    assert.deepEqual(membersOf('(doc) => emit(doc.a.b.c)'), ['a']);
    assert.deepEqual(
      membersOf('doc => { var my_doc = {}, doc$ = my_doc; emit(doc . a, my_doc.b, doc$.c) }'),
      ['a'],
    );
    assert.deepEqual(membersOf('function (doc) { emit(1) }'), []);
    assert.deepEqual(membersOf('function (doc) { doc.tags.forEach(function (t) { emit(t, doc._id) }) }'), [
      '_id',
      'tags',
    ]);
    assert.deepEqual(membersOf('function (doc) { emit(doc/**/.b, `${doc?.["a"]}`) } // doc.c'), ['a', 'b']);
    assert.deepEqual(membersOf('function (doc) { var { a, b: { c }, "d": e = doc.f } = doc; emit(a, c) }'), [
      'a',
      'b',
      'd',
      'f',
    ]);
    assert.deepEqual(membersOf('function (doc) { for (i in doc.a) emit(i, Object.keys(doc.b)[0]) };;'), [
      'a',
      'b',
    ]);
    assert.deepEqual(membersOf('function (doc) { function f(x) { return x.doc } emit({ doc: f(doc.a) }) }'), [
      'a',
    ]);
  });

  test('have names in any script, written in any way', () => {
    const name = toBytes('größe');
    assert.deepEqual(membersOf('function (doc) { emit(doc.größe) }'), [name]);
    assert.deepEqual(membersOf('function (doc) { emit(doc.gr\\u00f6\\u{df}e) }'), [name]);
    assert.deepEqual(membersOf('function (doc) { emit(doc["gr\\xf6\\u00dfe"]) }'), [name]);
    assert.deepEqual(membersOf('function (doc) { emit(\\u0064oc.b, doc.a) }'), ['a', 'b']);
    assert.deepEqual(membersOf('function (größe) { emit(größe.gr, größe[7]) }'), ['7', 'gr']);
  });

  const seesAll = [
    'function (doc) { emit(doc._id, doc) }',
    'function (doc) { for (var k in doc) emit(k) }',
    'function (doc) { var d = doc; emit(d.a) }',
    'function (doc) { emit(doc[name]) }',
    'function (doc) { emit(doc["a" + "b"]) }',
    'function (doc) { emit({...doc}) }',
    'function (doc) { emit(Object.keys(doc)) }',
    'function (doc) { emit(arguments[0].b, doc.a) }',
    'function (doc) { eval("do" + "c.b"); emit(doc.a) }',
    'function (doc) { with (doc) emit(b) }',
    'function (doc) { if (doc.hasOwnProperty("b")) emit(doc.a) }',
    'function (doc) { emit(doc.valueOf().b) }',
    'function (doc) { emit(doc.toString()) }',
    'function (doc) { Object.prototype.all = function () { return this }; emit(doc.all()) }',
    'function (doc, x) { emit(doc.a) }',
    'function ({ a }) { emit(a) }',
    'function () { emit(arguments[0].a) }',
    'function (doc) { return function (doc) { emit(doc.a) } }',
    'function (doc) { emit(doc.a); doc = other }',
    'async function (doc) { emit(doc.a) }',
    'emit',
    'function (doc) { emit(this.x, doc.a) }',
    'function (doc) { var { a, ...rest } = doc; emit(rest) }',
    'function (doc) { var { [doc.k]: a } = doc; emit(a) }',
    'function (doc) { emit(doc.a); helper(doc.b) }',
    'function (doc) { emit(doc.all(), doc.a) }',
    'function (doc) { var k = "constructor"; emit(doc.a[k]) }',
    'function (doc) { var f = doc.a["so" + "rt"]; f() ; emit(doc.b) }',
    'function (doc) { (0, eval)("1"); emit(doc.a) }',
    'function (doc) { class A {} emit(doc.a) }',
    'function (doc) { emit({ get x() { return 1 } }, doc.a) }',
    'function (doc) { Object.defineProperty({}, "x", {}); emit(doc.a) }',
    'function (doc) { doc: for (;;) break doc; emit(doc.a) } + 1',
    'function (doc = {}) { emit(doc.a) }',
    'function (...doc) { emit(doc.a) }',
    'function (doc) { emit(doc.a) }; var x = 1',
    '1, function (doc) { emit(doc.a) }',
    'function (doc) { <!-- emit(doc.b)\n emit(doc.a) }',
    'function (doc) { emit(doc.a) ',
    `function (doc) { emit(doc.a${' + 1'.repeat(10_000)}) }`,
    `function (doc) { emit(${'['.repeat(12_000)}doc.a${']'.repeat(12_000)}) }`,
  ];
  for (const source of seesAll) {
    test(`are all where it could look at any: ${source.slice(0, 80)}`, () =>
      assert.equal(membersOf(source), undefined));
  }

  test('are all where modules may change what objects have', () => {
    assert.equal(membersOf('function (doc) { emit(doc.a) }', true), undefined);
    const both = planMaps(
      parse,
      ['function (doc) { emit(doc.a) }', 'function (d) { x.prototype.y = 1 }'],
      false,
    );
    assert.ok(both.groups.every(({ members }) => members === undefined));
  });
});

describe('documents are shared', () => {
  const shares = 'function (doc) { emit(doc.a) }';
  const harmless = [
    'function (doc) { if (doc.a == 1 && doc.b !== 2 || doc.c <= 3 && doc.d >= 4) emit(doc.a) }',
    'function (doc) { var total = 0; for (var i = 0; i < doc.n; i++) total += doc.l[i]; emit(total) }',
    'function (doc) { var a = doc.a, b = 2; a = b; b <<= 1; emit(a) }',
    'doc => { let k = doc.a; while (k--) emit(k) }',
    'function (doc) { doc.tags.map(t => emit(t)) }',
    'function (doc) { for (i in doc.größe) emit(i, Object.keys(doc)) }',
  ];
  for (const source of harmless) {
    test(`by functions that only look at them: ${source}`, () =>
      assert.deepEqual(groupsOf(shares, source), [[0, 1]]));
  }

  const changing = [
    'function (doc) { doc.a = 1 }',
    'function (doc) { doc["a"] = 1 }',
    'function (doc) { doc.a += 1 }',
    'function (doc) { doc.a <<= 1 }',
    'function (doc) { doc.a ||= 1 }',
    'function (doc) { doc.a++ }',
    'function (doc) { return ++doc.a }',
    'function (doc) { delete doc.a }',
    'function (doc) { doc.tags.sort() }',
    'function (doc) { doc.tags["so" + "rt"]() }',
    'function (doc) { [doc.a] = [1] }',
    'function (doc) { ({ x: doc.a } = y) }',
    'function (doc) { for (doc.a in { x: 1 }); }',
    'function (doc) { for (doc.a of [1]); }',
    'function (doc) { doc./* */a = 1 }',
    'function (doc) { doc.\na = 1 }',
    'function (doc) { var t = doc.tags; t.length = 0 }',
    'function (doc) { Object.assign(doc, { a: 1 }) }',
    'function (doc) { doc.éa = 1 }',
  ];
  for (const source of changing) {
    test(`by none that could change them: ${source}`, () =>
      assert.deepEqual(groupsOf(shares, source, shares), [[0, 2], [1]]));
  }

  test('with the members that any of their functions looks at', () => {
    const { groups } = planMaps(
      parse,
      [shares, 'function (d) { emit(d.b) }', 'function (d) { d.c = 1 }'],
      false,
    );
    assert.deepEqual(
      groups.map(({ members }) => [...members!]),
      [['a', 'b'], ['c']],
    );
  });
});
