import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createServer } from '../src/server/create-server.js';
import { temporaryFolder } from './support/server.js';

const page = fs.readFileSync('docs/embedding.md', 'utf8');
const examples = [...page.matchAll(/```js\n(.*?)```/gs)].map((match) => match[1]!);
const entry = path.resolve(import.meta.dirname, '../src/index.js');

/** The members of an interface, as its source has them. */
function membersOf(file: string, name: string): string[] {
  const source = fs.readFileSync(file, 'utf8');
  const body = new RegExp(`export interface ${name} \\{\\n(.*?)\\n\\}`, 's').exec(source)![1]!;
  return [...body.matchAll(/^ {2}(\w+)\??[:(]/gm)].map((match) => match[1]!);
}

describe('docs/embedding.md', () => {
  test('lists every option of createServer and every member of what it gives', () => {
    const listed = [...page.matchAll(/^\| `(\w+)(?:\(\))?` \|/gm)].map((match) => match[1]!);
    assert.deepEqual(listed, [
      ...membersOf('src/server/server-options.ts', 'ServerOptions'),
      ...membersOf('src/server/create-server.ts', 'TuffetServer'),
    ]);
  });

  test('has examples that run', () => {
    assert.equal(examples.length, 2);
    for (const example of examples) {
      const folder = temporaryFolder();
      const file = path.join(folder, 'example.mjs');
      fs.writeFileSync(file, example.replace("'tuffet'", JSON.stringify(entry)));
      const env = { ...process.env };
      delete env['NODE_TEST_CONTEXT'];
      const run = spawnSync(process.execPath, [file], {
        cwd: folder,
        env,
        encoding: 'utf8',
        timeout: 60_000,
      });
      assert.equal(run.status, 0, run.stdout + run.stderr);
      assert.match(run.stdout, /^http:\/\/127\.0\.0\.1:\d+\n$|# pass 1\b|ℹ pass 1\b/m);
    }
  });
});

test('a server tells its address and port, and may be closed twice', async () => {
  const server = await createServer({ inMemory: true, admins: { a: 'b' }, port: 0, logLevel: 'none' });
  assert.equal(server.url, `http://127.0.0.1:${server.port}`);
  await Promise.all([server.close(), server.close()]);
});
