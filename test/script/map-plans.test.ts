import { parse } from 'acorn';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planMaps } from '../../src/script/map-plan.js';
import { seed, Random } from '../model/random.js';
import { mapped, newHost } from './scene.js';

/**
 * Map functions are given the parts of documents that their sources mention. Whatever the sources, the rows must be those
 * of functions that are given everything. A library makes it so: functions that may use modules get whole documents.
 */
const { host } = newHost();
const lib = { x: '' };
const rounds = Number(process.env['TUFFET_ROUNDS'] ?? 20);

const plainNames = ['a', 'b', 'größe', 'gr', 'na me', '价格', '_id', 'tags', 'doc'];
const names = [...plainNames, 'constructor', '__proto__', 'toString'];

/** Functions that run together, as those of a design document do, emit what each emits alone for whole documents. */
async function assertSameRows(maps: string[], docs: unknown[]): Promise<void> {
  const planned = await mapped(host, maps, docs);
  for (const [at, map] of [...new Set(maps)].entries()) {
    const whole = await mapped(host, [map], docs, { lib });
    assert.deepEqual(
      planned.map((doc) => doc[at]),
      whole.map(([rows]) => rows),
      `seed ${seed}: ${map}`,
    );
  }
}

function randomDoc(random: Random, n: number): unknown {
  const value = (depth: number): unknown => {
    const kind = random.below(depth > 2 ? 3 : 6);
    if (kind === 0) return random.below(10);
    if (kind === 1) return random.pick(names);
    if (kind === 2) return random.pick([true, false, null, '', 'ö']);
    if (kind === 3) return Array.from({ length: random.below(4) }, () => value(depth + 1));
    return object(depth + 1);
  };
  const object = (depth: number): unknown => {
    const members = Array.from({ length: random.below(8) }, () => [random.pick(names), value(depth)]);
    return Object.fromEntries(members) as unknown;
  };
  return { ...(object(0) as object), _id: `d${n}` };
}

/** A function of statements that people write, and some that they should not. */
function randomMap(random: Random): string {
  const tame = random.oneIn(2);
  /** One of the first `plain` where the function is to be an ordinary one. */
  const pick = <T>(plain: number, choices: readonly T[]): T =>
    random.pick(tame ? choices.slice(0, plain) : choices);
  const someName = (): string => random.pick(tame ? plainNames : names);
  const member = (): string => {
    const name = someName();
    if (/^[\p{L}_]+$/u.test(name) && random.below(3) > 0) {
      const first = name.codePointAt(0)!;
      return random.below(4) > 0 ? `.${name}` : `.\\u{${first.toString(16)}}${name.slice(1)}`;
    }
    return `[${JSON.stringify(name)}]`;
  };
  const place = (): string =>
    pick(4, [
      () => `doc${member()}`,
      () => `doc${member()}`,
      () => `doc?.${member().replace(/^\./, '')}`,
      () => `(doc${member()} || {})${member()}`,
      () => `doc[${JSON.stringify(someName())} + ""]`,
      () => `v${member()}`,
      () => 'doc',
      () => 'v',
    ])();
  const expression = (): string =>
    pick(7, [
      place,
      place,
      () => `[${place()}, ${place()}]`,
      () => `typeof ${place()}`,
      () => `JSON.stringify(${place()})`,
      () => `Object.keys(${place()} || 0)`,
      () => `"" + (${place()} == ${place()})`,
      () => `(function (doc) { return doc${member()} })(${place()})`,
      () => `(x => x)(${place()})`,
      () => `{ ...${place()} }`.replace(/^.*$/, '($&)'),
      () => `arguments[0]${member()}`,
      () => `eval("doc${member().replaceAll('"', "'")}")`,
      () => `${place()}.hasOwnProperty(${JSON.stringify(someName())})`,
    ])();
  const statement = (): string =>
    pick(9, [
      () => `emit(${expression()}, ${expression()});`,
      () => `emit(${expression()}, ${expression()});`,
      () => `if (${expression()}) emit(1, ${expression()}); else emit(0);`,
      () => `var v = ${expression()};`,
      () => `for (var k in ${place()}) emit(k, ${place()});`,
      () => `for (k in ${place()}) emit(k);`,
      () => `var { a, ${JSON.stringify(someName())}: b } = ${place()}; emit(a, b);`,
      () => `doc${member()} = ${expression()};`,
      () => `delete doc${member()};`,
      () => `with (${place()} || {}) emit(typeof a, typeof tags);`,
      () => 'try { v.tags.push(1) } catch (e) { emit("e") }',
      () => '(doc.tags || []).length = 0;',
      () => `Array.isArray(${place()}) && ${place()}.forEach(function (t) { emit(t, ${place()}) });`,
    ])();
  const body = Array.from({ length: 1 + random.below(4) }, statement).join(' ');
  return random.pick([
    `function (doc) { var v = {}; ${body} }`,
    `function map(doc) { var v = ${tame ? 1 : 'doc'}; ${body} };`,
    `doc => { let v = []; ${body.replaceAll('var v =', 'v =')} } // doc.b`,
    `/* doc */ function (doc) { var v = 1; ${body} };;`,
  ]);
}

describe('map functions that are given parts of documents', () => {
  test('emit what they emit for whole documents, whatever their sources', async () => {
    const random = new Random(seed);
    let planned = 0;
    for (let round = 0; round < rounds; round++) {
      const docs = Array.from({ length: 8 }, (_, n) => randomDoc(random, n));
      const maps = Array.from({ length: 1 + random.below(3) }, () => randomMap(random));
      planned += planMaps(parse, maps, false).groups.filter(({ members }) => members !== undefined).length;
      await assertSameRows(maps, docs);
    }
    assert.ok(planned > rounds / 5, 'hardly any function was given parts of documents');
  });

  const doc = { _id: 'x', größe: 7, gr: 1, a: { b: [3, 1, 2] }, doc: { a: 1 }, b: 'text', '': 5 };
  const cases = [
    'function (doc) { if (doc.größe) emit(doc.größe, 1) }',
    'function (doc) { emit(doc.gr\\u00f6\\u00dfe) }',
    'function (doc) { emit(doc["größe"], doc[""]) }',
    'function (größe) { emit(größe.größe, größe.gr) }',
    'function (doc) { doc.// ;\n gr = 2; emit(doc.gr, doc.b) }',
    'function (doc) { var { größe, ...rest } = doc; emit(größe, rest) }',
    'function ({ größe }) { emit(größe) }',
    'function (doc) { var d = doc; emit(d.größe) }',
    'function (doc) { with (doc) emit(größe) }',
    'function (doc) { emit(eval("doc.größe"), (0, eval)("typeof doc")) }',
    'function () { emit(arguments[0].größe) }',
    'function map(doc) { emit(typeof map.arguments) }',
    'function (doc) { this.d = doc; emit(d.größe) }',
    'function (doc) { (function (doc) { emit(doc.b) })(doc.a); emit(doc.gr) }',
    'function (doc) { for (var k in doc) emit(k, doc[k]) }',
    'function (doc) { emit(JSON.stringify(doc), { ...doc }) }',
    'function (doc) { emit({ get x() { return doc.größe } }.x) }',
    'function (doc) { emit(Object.entries(doc).length); emit(Object.keys(doc.a)) }',
    'function (doc) { function h(d) { return d.größe } emit(h(doc)) }',
    'function (doc) { emit(h(doc)) }; function h(d) { return d.größe }',
    'function (doc) { Object.prototype.all = function () { return this }; emit(doc.all().größe) }',
    'function (doc) { var p = "proto" + "type"; Object[p].me = Object[p].valueOf; emit(doc.me().größe) }',
    'function (doc) { ({})["constr" + "uctor"].assign(doc, { b: 2 }); emit(doc.b) }',
    'function (doc) { Object.defineProperty(Object.prototype, "all", { configurable: true, get() { return this.größe } }); emit(doc.all) }',
    'function (doc) { doc.a.b.sort(); emit(doc.a.b) }',
    'function (doc) { emit(doc?.a?.b?.[0], doc?.["größe"]) }',
    'function (doc) { emit(delete doc.gr, doc) }',
    'function (doc) { "use strict"; emit(doc.größe) }',
    'function (doc) { <!-- emit(1)\n emit(doc.größe)\n--> emit(2)\n }',
    'function (doc) { l: for (;;) { emit(doc.größe); break l } }',
    'function (doc) { if (doc) emit("a" in doc, doc.b) }',
    'doc => emit(doc.größe, [...doc.b])',
    '(doc, x = doc.größe) => emit(x)',
    'function (doc) { emit(`${doc.größe}`) };; // doc.c',
    'function(doc){var i;for(i=0;i<doc.a.b.length;i++){emit(doc.a.b[i],null)}}',
    'function (doc) { tags = doc.a.b; for (i in tags) emit(tags[i], doc._id) }',
    'function (doc) { doc.doc.doc = doc.größe; emit(doc.doc.doc, doc) }',
    'function (doc) { emit(doc\n.größe, doc [ "gr" ]) }',
  ];
  for (const map of cases) {
    test(`emit the same: ${map.replaceAll('\n', ' ')}`, () =>
      assertSameRows([map, map, map], [doc, { _id: 'y', b: 1 }]));
  }
});
