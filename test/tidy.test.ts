import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { allDatabaseRoutes, allServerRoutes, documentRoutes } from '../src/http/routes/router.js';
import { differencesPage } from '../src/compare/differences-page.js';
import { statuses } from '../src/http/answer/statuses.js';
import { brokenReferences, difference, tableRows, unknownFunctions } from './tidy/docs.js';
import { machineUsers, moduleStates } from './tidy/allowed-globals.js';
import { machineUses, moduleState } from './tidy/globals.js';
import { barrels, importCycles, layers, misplacedImports } from './tidy/layers.js';
import {
  consoleCalls,
  deadExports,
  longFiles,
  longFunctions,
  oddNames,
  unexplainedTodos,
  workplaceTraces,
} from './tidy/rules.js';
import { readFiles, readModule, type TextFile } from './tidy/source-files.js';

/** Style that can be checked is checked here. Every rule gives the list of what breaks it, which has to be empty. */
const source = readFiles(['src'], ['.ts']);
const modules = source.map(readModule);
const isTest = ({ path }: TextFile): boolean => path.endsWith('.test.ts');
const product = modules.filter((module) => !isTest(module));
const code = [...source, ...readFiles(['bench', 'scripts'], ['.ts', '.mjs'])];
/** The admin page: components hold their markup, so its functions are longer. */
const adminPage = readFiles(['admin/src'], ['.ts', '.tsx', '.css']);
const tests = readFiles(['test'], ['.ts']).filter(({ path }) => !path.startsWith('test/tidy'));
const pages = [...rootPages(), ...readFiles(['docs'], ['.md'])];
const nothing: string[] = [];

/** Exports that only tests need: lists that they compare with pages, bounds that they go up to, readers of what is stored. */
const exportsForTests = [
  'src/base/bytes.ts: readU16',
  'src/config/schema.ts: openSections',
  'src/http/routes/route.ts: accesses',
  'src/http/routes/router.ts: allDatabaseRoutes',
  'src/http/routes/router.ts: allServerRoutes',
  'src/http/routes/router.ts: documentRoutes',
  'src/json/walker.ts: jsonDepthMax',
  'src/revisions/codec.ts: bodyRefMax',
  'src/revisions/varint.ts: varintMax',
  // The build writes it to a module as well.
  'src/script/inside/program.ts: scopePrograms',
  'src/shard/command-codec.ts: decodeCommand',
  'src/shard/command-codec.ts: encodeCommand',
  'src/shard/keys.ts: tables',
];

function rootPages(): TextFile[] {
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'UPGRADING.md'].map((path) => ({
    path,
    text: fs.readFileSync(path, 'utf8'),
  }));
}

function pageOf(path: string): string {
  return pages.find((page) => page.path === path)?.text ?? '';
}

describe('the source', () => {
  test('imports go down the layers only', () => {
    assert.deepEqual(misplacedImports(product), nothing);
  });

  test('no file imports itself by a detour', () => {
    assert.deepEqual(importCycles(product), nothing);
  });

  test('no file but src/index.ts only re-exports', () => {
    assert.deepEqual(barrels(product), ['src/index.ts']);
  });

  test('files and functions are short', () => {
    assert.deepEqual([...longFiles(source), ...longFunctions(product)], nothing);
  });

  test('the admin page has short files, writes nothing to the console and imports nothing of the server', () => {
    assert.ok(adminPage.length > 50);
    const reaching = adminPage.filter(({ text }) => /from '(?:\.\.\/)+(?:src|dist|test)\//.test(text));
    assert.deepEqual([...longFiles(adminPage), ...consoleCalls(adminPage), ...reaching], nothing);
  });

  test('file names are in kebab case', () => {
    assert.deepEqual(
      oddNames([...code, ...adminPage, ...tests, ...pages.filter(inDocs)].map(({ path }) => path)),
      nothing,
    );
  });

  test('every export is imported by another file of the product', () => {
    const dead = deadExports(product).filter((name) => {
      const path = name.split(':')[0]!;
      // Declarations are of modules that the build writes.
      return !exportsForTests.includes(name) && path !== 'src/index.ts' && !path.endsWith('.d.ts');
    });
    assert.deepEqual(dead, nothing);
  });

  test('tests use the exports that are there for them', () => {
    const users = [...source.filter(isTest), ...readFiles(['test'], ['.ts'])].map(readModule);
    const used = users.flatMap(({ imports }) =>
      imports.flatMap(({ from, names }) => names.map((name) => `${from}: ${name}`)),
    );
    assert.deepEqual(difference(exportsForTests, used).missing, nothing);
  });

  test('a TODO has a reason', () => {
    assert.deepEqual(unexplainedTodos([...code, ...adminPage]), nothing);
  });

  test('only the command line writes to the console', () => {
    assert.deepEqual(consoleCalls(source.filter(({ path }) => !path.startsWith('src/main/'))), nothing);
  });

  test('clocks, timers and random numbers come from the runtime', () => {
    const uses = machineUses(product);
    const isAllowed = (use: string): boolean =>
      Object.keys(machineUsers).some((path) => use.startsWith(path));
    assert.deepEqual(
      uses.filter((use) => !isAllowed(use)),
      nothing,
    );
    const unneeded = Object.keys(machineUsers).filter((path) => !uses.some((use) => use.startsWith(path)));
    assert.deepEqual(unneeded, nothing, 'no longer needed');
  });

  test('no module has state of its own, but for what is listed with a reason', () => {
    assert.deepEqual(difference(Object.keys(moduleStates), moduleState(product)), {
      missing: [],
      unknown: [],
    });
  });

  test('nothing tells of the place where it was written', () => {
    assert.deepEqual(workplaceTraces([...code, ...adminPage, ...tests, ...pages]), nothing);
  });
});

function inDocs({ path }: TextFile): boolean {
  return path.startsWith('docs/');
}

describe('the pages', () => {
  test('docs/errors.md lists every error with its status, and no other', () => {
    const listed = tableRows(pageOf('docs/errors.md'), /^[a-z_]+$/).filter(([, status = '']) =>
      /^\d{3}$/.test(status),
    );
    const expected = Object.entries(statuses).map(([name, status]) => `${name} ${status}`);
    const found = listed.map(([name, status]) => `${name} ${status}`);
    assert.deepEqual(difference(expected, found), { missing: [], unknown: [] });
  });

  test('docs/api.md lists every method of every route, and no other', () => {
    const tables = [...allServerRoutes, ...allDatabaseRoutes].map(({ path, methods }) => ({
      path,
      methods: Object.keys(methods),
    }));
    const documents = documentRoutes.map(({ path, methods }) => ({ path, methods: Object.keys(methods) }));
    const routes = [...tables, ...documents];
    const expected = routes.flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`));
    const rows = tableRows(pageOf('docs/api.md'), /^(?:[A-Z]{3,}(?:, )?)+$/);
    const found = rows.flatMap(([methods = '', path = '']) =>
      methods.split(', ').map((method) => `${method} ${path}`),
    );
    assert.deepEqual(difference(expected, found), { missing: [], unknown: [] });
    assert.equal(new Set(found).size, found.length, 'a route is listed twice');
  });

  test('docs/compatibility.md has the list of intended differences, as npm run compatibility writes it', () => {
    assert.ok(
      pageOf('docs/compatibility.md').includes(`<!-- differences -->\n\n${differencesPage()}\n<!-- end`),
    );
  });

  test('docs/glossary.md says for every word where the code defines it, in alphabetical order', () => {
    const rows = pageOf('docs/glossary.md')
      .split('\n')
      .filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| word |'));
    assert.ok(rows.length >= 20);
    assert.deepEqual(
      rows.filter((row) => !/`\w+` \(`src\/[\w./-]+`\)/.test(row)),
      nothing,
    );
    assert.deepEqual(rows, [...rows].sort());
  });

  test('docs/dependencies.md gives a reason for every dependency, and for no other', () => {
    const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const expected = [
      ...Object.keys(manifest['dependencies']!),
      ...Object.keys(manifest['devDependencies']!),
    ];
    const rows = tableRows(pageOf('docs/dependencies.md'), /^@?[\w/-]+$/).filter(
      ([name]) => name !== 'package',
    );
    const found = rows.filter(([, reason = '']) => reason.length > 20).map(([name]) => name!);
    assert.deepEqual(difference(expected, found), { missing: [], unknown: [] });
  });

  test('decisions are numbered without gaps and titled', () => {
    const names = fs.readdirSync('docs/decisions').sort();
    const numbers = names.map((name) => name.slice(0, 4));
    assert.ok(names.length > 0);
    assert.deepEqual(
      numbers,
      names.map((_, at) => `${String(at + 1).padStart(3, '0')}-`),
    );
    for (const name of names) {
      assert.match(pageOf(`docs/decisions/${name}`), new RegExp(`^# ${name.slice(0, 3)}\\. \\S`), name);
    }
  });

  test('docs/architecture.md shows the layers as they are checked', () => {
    const rows = [...pageOf('docs/architecture.md').matchAll(/^ {4}([a-z]+(?:, [a-z]+)*) {2,}\S/gm)];
    assert.deepEqual(
      rows.map(([, folders]) => folders!.split(', ')),
      layers,
    );
  });

  test('files, links and functions that pages name exist', () => {
    assert.deepEqual([...brokenReferences(pages), ...unknownFunctions(pages)], nothing);
  });

  test('pages that comments name exist', () => {
    const named = code.flatMap(({ path, text }) =>
      [...text.matchAll(/docs\/[\w/-]+\.md/g)].map(([page]) => ({ path, page })),
    );
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter(({ page }) => !fs.existsSync(page)),
      [],
    );
  });
});

/** A rule that finds nothing might look at nothing: here each has something to find. */
describe('the rules', () => {
  const made = (path: string, text: string) => readModule({ path, text });
  const long = (count: number) => 'x();\n'.repeat(count);

  test('see imports that go up or sideways', () => {
    const up = made('src/json/a.ts', "import { b } from '../http/b.js';");
    const sideways = made('src/storage/a.ts', "import type { B } from '../config/b.js';");
    const down = made('src/http/b.ts', "import { c } from '../json/c.js';\nimport fs from 'node:fs';");
    assert.equal(misplacedImports([up, sideways, down]).length, 2);
    assert.equal(misplacedImports([made('src/utils/a.ts', '')]).length, 1);
  });

  test('see circles and barrels', () => {
    const a = made('src/json/a.ts', "import { b } from './b.js';");
    const b = made('src/json/b.ts', "import type { a } from './a.js';");
    assert.deepEqual(importCycles([a, b]), ['src/json/a.ts -> src/json/b.ts -> src/json/a.ts']);
    assert.deepEqual(barrels([a, made('src/json/c.ts', "export * from './a.js';")]), ['src/json/c.ts']);
  });

  test('see dead exports, and types that live by another export', () => {
    const a = made(
      'src/json/a.ts',
      'export const used = 1;\nexport const dead = 2;\nexport type Dead = number;',
    );
    const b = made(
      'src/json/b.ts',
      "import { used } from './a.js';\nexport interface Option {}\nexport function f(o: Option) {}",
    );
    const c = made('src/json/c.ts', "import { f } from './b.js';");
    assert.deepEqual(deadExports([a, b, c]), ['src/json/a.ts: dead', 'src/json/a.ts: Dead']);
  });

  test('see length', () => {
    assert.equal(
      longFiles([
        { path: 'a', text: long(300) },
        { path: 'b', text: long(301) },
      ]).length,
      1,
    );
    const functions = `const a = () => {\n${long(58)}};\nclass B {\n  c() {\n${long(59)}  }\n}\n`;
    assert.equal(longFunctions([made('a', functions)]).length, 1);
  });

  test('see names and words', () => {
    const lines = (text: string): TextFile[] => [{ path: 'a', text }];
    assert.deepEqual(oddNames(['src/a-b.test.ts', 'src/aB.ts', 'src/a_b.ts']), ['src/aB.ts', 'src/a_b.ts']);
    assert.equal(unexplainedTodos(lines('// TODO\n// FIXME: later\n// TODO: waits for the views')).length, 2);
    assert.equal(consoleCalls(lines('console.log(1);')).length, 1);
    assert.equal(workplaceTraces(lines('see /work/shared\nhomework/network')).length, 1);
  });

  test('see clocks, timers and random numbers', () => {
    const uses = (text: string): string[] => machineUses([made('a', text)]);
    assert.deepEqual(uses('const t = Date.now() + performance.now();'), [
      'a: Date.now',
      'a: performance.now',
    ]);
    assert.deepEqual(uses('f(new Date()); f(new Date(5)); f(globalThis.Math.random());'), [
      'a: new Date()',
      'a: Math.random',
    ]);
    assert.deepEqual(uses('setTimeout(f, 1); socket.setTimeout(1); run(setImmediate);'), [
      'a: setTimeout',
      'a: setImmediate',
    ]);
    const imports = "import { hash, randomUUID as id } from 'node:crypto';";
    assert.deepEqual(uses(`${imports}\nimport { setTimeout as wait } from 'node:timers/promises';`), [
      'a: randomUUID',
      'a: node:timers/promises',
    ]);
    assert.deepEqual(uses('interface Timers { setTimeout(): void }\nconst now = runtime.now();'), nothing);
  });

  test('see state of modules', () => {
    const states = (text: string): string[] => moduleState([made('a', text)]);
    assert.deepEqual(states('let n = 0;\nfunction f() { n++; }'), ['a: n']);
    assert.deepEqual(states('const m = new Map();\nconst f = () => m.set(1, 2);'), ['a: m']);
    assert.deepEqual(states('const o = { p: [] };\nclass C { f() { o.p.push(1); } }'), ['a: o']);
    assert.deepEqual(states('const b = Buffer.alloc(8);\nfunction f() { b[0] = 1; }'), ['a: b']);
    assert.deepEqual(states('const cache = new Cache();'), ['a: cache']);
    assert.deepEqual(states('class C { static n = 0; static readonly m = 1; }'), ['a: C.n']);
    assert.deepEqual(states('const r = /a/g;\nconst q = /a/i;\nconst f = (t) => r.test(t) && q.test(t);'), [
      'a: r',
    ]);
  });

  test('see no state in constants, and in variables of functions', () => {
    const states = (text: string): string[] => moduleState([made('a', text)]);
    assert.deepEqual(states('const m = new Map();\nfor (const x of list) m.set(x, 1);'), nothing);
    assert.deepEqual(states('const m = new Map();\nfunction f(m) { m.set(1, 2); }'), nothing);
    assert.deepEqual(states('const m = 1;\nfunction f() { const { m } = g(); m.push(1); }'), nothing);
    assert.deepEqual(states("const p = new RegExp(text, 'v');\nconst f = (t) => p.test(t);"), nothing);
  });

  test('see tables and references', () => {
    assert.deepEqual(tableRows('| `a` | 400 |\n|---|---|\n| B | x |', /^[a-z]$/), [['a', '400']]);
    const page = {
      path: 'docs/a.md',
      text: '`src/none.ts`, [x](none.md), `none` (`src/index.ts`), `createServer` (`src/index.ts`)',
    };
    assert.deepEqual(brokenReferences([page]), ['docs/a.md: src/none.ts', 'docs/a.md: docs/none.md']);
    assert.deepEqual(unknownFunctions([page]), ['docs/a.md: none in src/index.ts']);
  });
});
