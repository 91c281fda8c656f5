import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as lmdb from 'lmdb';
import { asBytes } from '../../src/base/bytes.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { plain } from './entries.js';

const root = path.resolve(import.meta.dirname, '../../..');
const require = createRequire(import.meta.url);

function newFolder(t: TestContext): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-cursor-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'store');
}

/** A process that runs a program with the read-only store `store`, and can be told to go on. */
function elsewhere(folder: string, program: string): ChildProcess {
  const module = pathToFileURL(path.join(root, 'dist/src/storage/lmdb-store.js')).href;
  const code = `import { once } from 'node:events';
    import { LmdbStore } from ${JSON.stringify(module)};
    const store = new LmdbStore(${JSON.stringify(folder)}, undefined, undefined, { readOnly: true });
    ${program}
    await store.close();
    process.disconnect();`;
  const args = ['--input-type=module', '-e', code];
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

async function message(from: ChildProcess): Promise<unknown> {
  const [text] = (await once(from, 'message')) as unknown[];
  return text;
}

describe('the cursor of an LmdbStore', () => {
  test('calls functions of the one version of lmdb that it was written for', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const folder = path.dirname(path.dirname(require.resolve('lmdb')));
    const installed = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
      version: string;
    };
    const advice =
      'src/storage/lmdb-cursor.ts calls undocumented functions of lmdb 3.5.6. Before another version is taken, compare ' +
      'getRange in its read.js and src/cursor.cpp with that file, then change the version here and in package.json';
    assert.equal(manifest.dependencies['lmdb'], '3.5.6', advice);
    assert.equal(installed.version, '3.5.6', advice);
    const { nativeAddon } = lmdb as unknown as { nativeAddon: Record<string, unknown> };
    for (const name of ['Cursor', 'position', 'iterate', 'getAddress', 'lmdbError'])
      assert.equal(typeof nativeAddon[name], 'function', `${name}: ${advice}`);
  });

  test('shows what another process has committed, once it is told of it', async (t) => {
    const folder = newFolder(t);
    const store = new LmdbStore(folder);
    const write = (value: string): Promise<void> =>
      store.write([{ key: asBytes('k'), value: asBytes(value) }]).flushed;
    await write('0');
    const reader = elsewhere(
      folder,
      `const values = () => store.list({ start: 'k', end: 'l' }, Infinity).map(({ value }) => value);
      for (let times = 0; times < 20; times++) {
        const told = once(process, 'message');
        process.send(values());
        await told;
        store.refresh();
      }
      process.send(values());`,
    );
    const exited = once(reader, 'exit');
    for (let times = 0; times <= 20; times++) {
      assert.deepEqual(await message(reader), [String(times)]);
      await write(String(times + 1));
      if (times < 20) reader.send('go on');
    }
    await exited;
    // A process that takes itself for the only one clears the locks of the others when it closes the store.
    await write('last');
    assert.equal(store.get(asBytes('k')), 'last');
    await store.close();
  });

  test('reads the same state as single reads of its turn, also beside a snapshot', async (t) => {
    const store = new LmdbStore(newFolder(t));
    for (let n = 0; n < 20; n++) {
      const snapshot = store.snapshot();
      await store.write([{ key: asBytes('k'), value: asBytes(String(n)) }]).flushed;
      assert.deepEqual(store.list({ start: asBytes('k'), end: asBytes('l') }, Infinity).map(plain), [
        { key: 'k', value: String(n) },
      ]);
      assert.equal(snapshot.get(asBytes('k')), n === 0 ? undefined : String(n - 1));
      snapshot.release();
      assert.equal(
        store.list({ start: asBytes('k'), end: asBytes('l') }, Infinity)[0]!.value,
        store.get(asBytes('k')),
      );
    }
    await store.close();
  });

  test('can be closed when the transaction that it has read in has ended', async (t) => {
    const folder = newFolder(t);
    for (let times = 0; times < 20; times++) {
      const store = new LmdbStore(folder);
      await store.write([{ key: asBytes('k'), value: asBytes(String(times)) }]).flushed;
      const snapshot = store.snapshot();
      assert.equal(store.list({ start: asBytes('k'), end: asBytes('l') }, Infinity).length, 1);
      await store.write([{ key: asBytes('k'), value: asBytes('later') }]).flushed;
      snapshot.release();
      await store.close();
    }
  });

  test('reads on behind a value that is larger than any that this process has seen', async (t) => {
    const folder = newFolder(t);
    const store = new LmdbStore(folder);
    await store.write([{ key: asBytes('a'), value: asBytes('x'.repeat(68e6)) }]).flushed;
    await store.write([{ key: asBytes('c'), value: asBytes('small') }]).flushed;
    await store.close();
    const reader = elsewhere(
      folder,
      `process.send(
        store.list({ start: 'a', end: 'd' }, Infinity).map(({ value }) => [value.length, value.at(-1)]),
      );`,
    );
    const exited = once(reader, 'exit');
    const found = await message(reader);
    await exited;
    assert.deepEqual(found, [
      [68e6, 'x'],
      [5, 'l'],
    ]);
  });
});
