import assert from 'node:assert/strict';
import fs from 'node:fs';
import { before, describe, test } from 'node:test';
import type { Access } from '../../src/http/routes/route.js';
import type { Answer, HttpClient } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';
import { accessPage, accessRows, type AccessRow } from './access-table.js';

test('docs/access.md says what the route tables say (npm run access writes it)', () => {
  assert.equal(fs.readFileSync('docs/access.md', 'utf8'), accessPage());
});

const admin = await startServer();
const callers = ['anonymous', 'stranger', 'viewer', 'member', 'db_admin', 'server_admin'] as const;
type Caller = (typeof callers)[number];

const clients: Record<Caller, HttpClient> = {
  anonymous: admin.anonymous,
  stranger: admin.as('stranger:pw'),
  viewer: admin.as('viewer:pw'),
  member: admin.as('member:pw'),
  db_admin: admin.as('dba:pw'),
  server_admin: admin,
};

async function makeUser(name: string, roles: string[] = []): Promise<void> {
  const answer = await admin.put(`/_users/org.couchdb.user:${name}`, {
    name,
    roles,
    type: 'user',
    password: 'pw',
  });
  assert.equal(answer.status, 201, answer.text);
}

before(async () => {
  for (const name of ['stranger', 'viewer', 'member', 'dba']) await makeUser(name);
  await makeUser('watcher', ['_metrics']);
});

/** Who may call, from the weakest to the strongest. */
const allowed: Record<Access, readonly Caller[]> = {
  public: callers,
  server_admin: ['server_admin'],
  replicate: ['server_admin'],
  all_dbs: ['server_admin'],
  metrics: ['server_admin'],
  member: ['viewer', 'member', 'db_admin', 'server_admin'],
  writer: ['member', 'db_admin', 'server_admin'],
  listing: ['viewer', 'member', 'db_admin', 'server_admin'],
  local: ['viewer', 'member', 'db_admin', 'server_admin'],
  local_writer: ['member', 'db_admin', 'server_admin'],
  local_listing: ['viewer', 'member', 'db_admin', 'server_admin'],
  db_admin: ['db_admin', 'server_admin'],
  design_writer: ['db_admin', 'server_admin'],
  maintenance: ['db_admin', 'server_admin'],
};

/** What a refusal says whose reason is the caller, and not what the request asks for. */
const refusals = [
  'You are not a server admin.',
  'You are not an authenticated user',
  'You are not a server admin or read-only metrics user',
  'You are not authorized to access this db.',
  'You are not allowed to access this db.',
  'You are a viewer of this db: you may read it, but not change it.',
  'You are not a db or server admin.',
  'You are not a server or db admin.',
];

function isRefused({ status, body }: Answer): boolean {
  return (status === 401 || status === 403) && refusals.includes(body?.reason);
}

/** Anonymous callers may log in and try again; so may whoever calls what only server admins may. */
function refusalStatus(access: Access, caller: Caller): number {
  if (caller === 'anonymous') return 401;
  const ofServer = ['server_admin', 'replicate', 'all_dbs', 'metrics'].includes(access);
  return ofServer || (access === 'maintenance' && (caller === 'member' || caller === 'viewer')) ? 401 : 403;
}

const names: Readonly<Record<string, string>> = {
  '{node}': '_local',
  '{section}': 'nothing',
  '{key}': 'nothing',
  '{docid}': 'doc',
  '{ddoc}': 'ddoc',
  '{attname}': 'att',
};

function pathOf({ path }: AccessRow, db: string): string {
  return path
    .replace('/{db}', db)
    .replace(/\{\w+\}/g, (name) => names[name] ?? 'x')
    .replace(/\/\*$/, '/x');
}

describe('Every route', () => {
  for (const row of accessRows()) {
    test(`${row.method} ${row.path} lets in ${allowed[row.access].join(', ')}`, async () => {
      // The strongest come last: what they may do could change what the others may.
      const db = row.path.startsWith('/{db}') ? await newDb(admin, '?q=1') : '';
      if (db !== '') {
        const security = {
          admins: { names: ['dba'] },
          members: { names: ['member'] },
          viewers: { names: ['viewer'] },
        };
        await admin.put(`${db}/_security`, security);
      }
      // Others than admins are told first of a document that is missing or has another revision.
      const isDesign = row.access === 'design_writer';
      const query = isDesign ? `?rev=${(await admin.put(`${db}/_design/ddoc`, {})).body.rev}` : '';
      for (const caller of callers) {
        const hasBody = row.method === 'POST' || row.method === 'PUT';
        const path = pathOf(row, db) + query;
        const answer = await clients[caller].send(row.method, path, hasBody ? { json: {} } : {});
        const expected = !allowed[row.access].includes(caller);
        if (row.method !== 'HEAD') assert.equal(isRefused(answer), expected, `${caller}: ${answer.text}`);
        if (expected) assert.equal(answer.status, refusalStatus(row.access, caller), `${caller}`);
      }
    });
  }

  test('design documents that are saved later are refused at once', async () => {
    const db = await newDb(admin, '?q=1');
    await admin.put(`${db}/_security`, { admins: { names: ['dba'] }, members: { names: ['member'] } });
    const { rev } = (await admin.put(`${db}/_design/ddoc`, {})).body;
    for (const method of ['PUT', 'DELETE']) {
      const path = `${db}/_design/ddoc?rev=${rev}&batch=ok`;
      const answer = await clients.member.send(method, path, method === 'PUT' ? { json: {} } : {});
      assert.equal(answer.status, 403, method);
    }
  });

  test('with the role _metrics, figures are shown and nothing else', async () => {
    const watcher = admin.as('watcher:pw');
    for (const row of accessRows().filter(({ path, method }) => path.startsWith('/_') && method === 'GET')) {
      const answer = await watcher.get(pathOf(row, ''));
      assert.equal(isRefused(answer), !['metrics', 'public'].includes(row.access), row.path);
    }
  });

  test('with admin_only_all_dbs off, everybody lists the databases', async () => {
    await admin.put('/_node/_local/_config/chttpd/admin_only_all_dbs', 'false');
    for (const row of accessRows().filter(({ access, method }) => access === 'all_dbs' && method === 'GET')) {
      assert.equal((await admin.anonymous.get(row.path)).status, 200, row.path);
    }
    await admin.delete('/_node/_local/_config/chttpd/admin_only_all_dbs');
  });
});

describe('Listings of system databases', () => {
  const listings = accessRows().filter(({ access }) => ['listing', 'local_listing'].includes(access));

  for (const db of ['/_users', '/_replicator', '/more%2F_users', '/more%2F_replicator']) {
    test(`of ${db} are for server admins, also where others may read the database`, async () => {
      await admin.put('/_node/_local/_config/couchdb/users_db_security_editable', 'true');
      if (db.startsWith('/more')) await admin.put(db);
      const security = (await admin.get(`${db}/_security`)).body;
      assert.equal((await admin.put(`${db}/_security`, {})).status, 200);
      for (const row of listings) {
        const hasBody = row.method === 'POST' || row.method === 'PUT';
        for (const caller of ['anonymous', 'stranger'] as const) {
          const answer = await clients[caller].send(row.method, pathOf(row, db), hasBody ? { json: {} } : {});
          assert.equal(answer.status, 401, `${caller} ${row.method} ${row.path}: ${answer.text}`);
        }
      }
      await admin.put(`${db}/_security`, security);
      await admin.delete('/_node/_local/_config/couchdb/users_db_security_editable');
    });
  }
});
