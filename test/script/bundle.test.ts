import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { scopePrograms as made } from '../../src/script/inside/program.js';
import { scopePrograms as written } from '../../src/script/scope-programs.js';

const built = path.resolve(import.meta.dirname, '../..');
/** Inside the repository, so that packages are found. */
const folder = fs.mkdtempSync(path.join(built, 'bundle-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Where the package's threads begin: a bundler needs them beside the program. */
const threads = ['script/script-worker', 'indexes/index-thread', 'blobs/blob-worker'];

test('the programs of the sandbox are written when it is built', () => {
  assert.deepEqual(written, made);
});

test('a program that was bundled and minified runs functions of design documents', async (t) => {
  const { rolldown } = await import('rolldown').catch(() => ({ rolldown: undefined }));
  if (rolldown === undefined) return t.skip('no bundler is installed');
  fs.writeFileSync(path.join(folder, 'app.js'), app);
  const input = Object.fromEntries(
    threads.map((name) => [path.basename(name), path.join(built, 'src', `${name}.js`)]),
  );
  const bundle = await rolldown({
    input: { app: path.join(folder, 'app.js'), ...input },
    platform: 'node',
    external: (id: string) => !id.startsWith('.') && !path.isAbsolute(id),
  });
  const out = path.join(folder, 'out');
  await bundle.write({ dir: out, format: 'esm', minify: true });
  await bundle.close();
  const { stdout, stderr } = spawnSync(process.execPath, [path.join(out, 'app.js')], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(stdout, '{"rows":[{"key":null,"value":3}]} 403 {"length":5}', stderr);
});

const app = `
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createServer } from '${path.join(built, 'src/index.js')}';
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-bundle-'));
const server = await createServer({ dataDir, port: 0, admins: { a: 'b' }, logLevel: 'none' });
const ask = async (method, path, body) => {
  const authorization = 'Basic ' + btoa('a:b');
  const headers = { authorization, 'content-type': 'application/json' };
  return await fetch(server.url + path, { method, headers, body: body && JSON.stringify(body) });
};
await ask('PUT', '/db');
await ask('PUT', '/db/_design/d', {
  views: { v: { map: 'function (doc) { emit(doc._id, doc.n) }', reduce: '_sum' } },
  validate_doc_update: 'function (doc) { if (doc.bad) throw { forbidden: "no" } }',
});
await ask('PUT', '/db/a', { n: 1 });
await ask('PUT', '/db/b', { n: 2, _attachments: { f: { content_type: 'text/plain', data: btoa('12345') } } });
const rows = await (await ask('GET', '/db/_design/d/_view/v')).json();
const refused = await ask('PUT', '/db/c', { bad: true });
const { _attachments: files } = await (await ask('GET', '/db/b')).json();
await server.close();
fs.rmSync(dataDir, { recursive: true });
process.stdout.write(JSON.stringify(rows) + ' ' + refused.status + ' ' + JSON.stringify({ length: files.f.length }));
`;
