import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { SystemRuntime } from '../../src/base/runtime.js';
import { DataFolder } from '../../src/node/data-folder.js';
import { discardSystemDatabases } from '../../src/node/discard-system-databases.js';
import { installCopy } from '../../src/node/received-copy.js';
import { StoresAtRest } from '../../src/node/stores-at-rest.js';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/server.js';

/** Runs a server on a folder as long as it is used. */
async function serve(folder: string, use: (client: HttpClient) => Promise<unknown>): Promise<void> {
  const server = await createServer({
    dataDir: folder,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config: {
      chttpd_auth: { iterations: '100' },
      couchdb: { users_db_security_editable: 'true' },
      global_changes: { update_db: 'true' },
    },
  });
  try {
    await use(new HttpClient(server.url));
  } finally {
    await server.close();
  }
}

async function discard(folder: string): Promise<void> {
  const opened = DataFolder.open(folder);
  try {
    await discardSystemDatabases(opened, new SystemRuntime());
  } finally {
    opened.release();
  }
}

async function databasesIn(folder: string): Promise<string[]> {
  const stores = StoresAtRest.open(folder);
  const names = stores.catalogue.databases().map(([name]) => name);
  await stores.close();
  return names;
}

const systemDatabases = ['_global_changes', '_replicator', '_users'];
const keptIn = (folder: string): string[] =>
  fs.readdirSync(folder).filter((name) => name.startsWith('before-cluster-'));

describe('a data folder for a node of a cluster', () => {
  const saved: Record<string, [path: string, body: unknown]> = {
    'a design document of _users': ['/_users/_design/mine', { views: {} }],
    'a design document of _replicator': ['/_replicator/_design/mine', { views: {} }],
    'a design document of _global_changes': ['/_global_changes/_design/mine', { views: {} }],
    'a document of _global_changes': ['/_global_changes/mine', {}],
    'a document of _replicator': [
      '/_replicator/mine',
      { source: 'http://127.0.0.1:1/a', target: 'http://127.0.0.1:1/b' },
    ],
    'a user': ['/_users/org.couchdb.user:a', { name: 'a', type: 'user', roles: [], password: 'p' }],
    'a local document of _users': ['/_users/_local/mine', {}],
    'a local document of _replicator': ['/_replicator/_local/mine', {}],
    'a security object': ['/_users/_security', { admins: { names: ['jo'] } }],
    'a limit of revisions': ['/_replicator/_revs_limit', 7],
    'a database': ['/mine', undefined],
  };
  for (const [what, [address, body]] of Object.entries(saved)) {
    test(`is left as it is with ${what}`, async () => {
      const folder = temporaryFolder();
      await serve(folder, async (client) => {
        const { status, text } = await client.put(address, body);
        assert.ok(status < 300, text);
      });
      await discard(folder);
      await serve(folder, async (client) => {
        const { status, body: read } = await client.get(address);
        assert.equal(status, 200);
        if (typeof body === 'number') assert.equal(read, body);
        if (address.endsWith('_security')) assert.deepEqual(read.admins.names, ['jo']);
      });
      assert.deepEqual(keptIn(folder), []);
    });
  }

  test('is left as it is with a changed _design/_auth', async () => {
    const folder = temporaryFolder();
    await serve(folder, async (client) => {
      const { body } = await client.get('/_users/_design/_auth');
      assert.equal((await client.put('/_users/_design/_auth', { ...body, views: {} })).status, 201);
    });
    await discard(folder);
    assert.deepEqual(await databasesIn(folder), systemDatabases);
  });

  test('is emptied where it has only what every server begins with, which is kept', async () => {
    const folder = temporaryFolder();
    await serve(folder, async (client) => {
      await client.put('/gone', undefined);
      await client.delete('/gone');
    });
    await discard(folder);
    assert.deepEqual(await databasesIn(folder), []);
    const [kept, ...others] = keptIn(folder);
    assert.deepEqual(others, []);
    assert.ok(!fs.existsSync(path.join(folder, 'incoming.complete')));
    await serve(path.join(folder, kept!), async (client) => {
      assert.deepEqual((await client.get('/_all_dbs')).body, systemDatabases);
      assert.equal((await client.get('/_users/_design/_auth')).status, 200);
    });
  });

  test('is the same when it was interrupted while it was emptied', async () => {
    const folder = temporaryFolder();
    await serve(folder, (client) => client.get('/'));
    await discard(folder);
    const [kept] = keptIn(folder);
    const at = (...names: string[]): string => path.join(folder, ...names);
    // As it is between the two stores.
    fs.mkdirSync(at('incoming.complete'));
    fs.renameSync(at('catalogue'), at('incoming.complete', 'catalogue'));
    fs.renameSync(at(kept!, 'catalogue'), at('catalogue'));
    fs.renameSync(at(kept!), at('incoming.complete', kept!));
    const opened = DataFolder.open(folder);
    await installCopy(opened);
    opened.release();
    assert.deepEqual(await databasesIn(folder), []);
    assert.deepEqual(await databasesIn(at(kept!)), systemDatabases);
    assert.ok(!fs.existsSync(at('incoming.complete')));
  });
});
