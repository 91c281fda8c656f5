import type { Endpoint } from './endpoint.js';

const settings: Endpoint[] = [
  { route: '/{db}', method: 'GET', path: '/{db}' },
  { route: '/{db}', method: 'GET', path: '/{db}_nope' },
  ...['_security', '_revs_limit', '_purged_infos_limit', '_purged_infos', '_shards', '_partition'].map(
    (name): Endpoint => ({ route: `/{db}/${name}`, method: 'GET', path: `/{db}/${name}` }),
  ),
  { route: '/{db}/_shards/{docid}', method: 'GET', path: '/{db}/_shards/a' },
  {
    route: '/{db}/_security',
    method: 'PUT',
    path: '/{db}/_security',
    body: { admins: { names: ['x'], roles: [] }, members: { names: [], roles: ['r'] } },
    members: ['admins', 'admins.names', 'admins.roles', 'members', 'members.names', 'members.roles', 'other'],
    writes: true,
  },
  ...['_revs_limit', '_purged_infos_limit'].flatMap((name) =>
    ['10', '0', '-1', '1.5', '"10"', 'null', '[]', '', 'x', '99999999999999999999'].map((body): Endpoint => ({
      route: `/{db}/${name}`,
      method: 'PUT',
      path: `/{db}/${name}`,
      body,
      writes: true,
    })),
  ),
  ...['_compact', '_view_cleanup', '_ensure_full_commit', '_sync_shards', '_search_cleanup'].map(
    (name): Endpoint => ({
      route: `/{db}/${name}`,
      method: 'POST',
      path: `/{db}/${name}`,
      body: {},
      writes: true,
    }),
  ),
  ...['fun', 'nope', 'fun/x'].map((name): Endpoint => ({
    route: name.includes('/') ? '/{db}/_compact/{ddoc}/*' : '/{db}/_compact/{ddoc}',
    method: 'POST',
    path: `/{db}/_compact/${name}`,
    body: {},
    writes: true,
  })),
  ...['{db}', 'A{db}', '_x', '{db}x!', '{db}%2Fsub', '9x'].map((name): Endpoint => ({
    route: '/{db}',
    method: 'PUT',
    path: `/${name}`,
    parameters: { q: 'number', n: 'number', partitioned: 'boolean', placement: 'text' },
    scene: 'none',
    writes: true,
  })),
  { route: '/{db}', method: 'DELETE', path: '/{db}', parameters: { rev: 'rev' }, writes: true },
];

const session: Endpoint[] = [
  { route: '/_session', method: 'GET', path: '/_session', parameters: { basic: 'boolean' } },
  {
    route: '/_session',
    method: 'POST',
    path: '/_session',
    body: { name: 'compare_member', password: 'secret' },
    members: ['name', 'password', 'next'],
    parameters: { next: ['/', '/_utils', 'http://x/', ''] },
  },
  { route: '/_session', method: 'DELETE', path: '/_session', parameters: { next: ['/', '/x'] } },
];

const node: Endpoint[] = [
  {
    route: '/_node/{node}/_config/{section}/{key}',
    method: 'GET',
    path: '/_node/_local/_config/compare/nope',
  },
  { route: '/_node/{node}/_config/{section}', method: 'GET', path: '/_node/_local/_config/compare_nope' },
  { route: '/_node/{node}/_stats/*', method: 'GET', path: '/_node/_local/_stats/nope' },
  { route: '/_node/{node}/_stats/*', method: 'GET', path: '/_node/_local/_stats/couchdb/nope' },
  { route: '/_node/{node}/_system', method: 'GET', path: '/_node/nope@127.0.0.1/_system' },
  { route: '/_node/{node}', method: 'GET', path: '/_node/_local' },
];

const replication: Endpoint[] = [
  {
    route: '/_scheduler/jobs',
    method: 'GET',
    path: '/_scheduler/jobs',
    parameters: { limit: 'number', skip: 'number' },
  },
  { route: '/_scheduler/jobs/{jobid}', method: 'GET', path: '/_scheduler/jobs/nope' },
  {
    route: '/_scheduler/docs',
    method: 'GET',
    path: '/_scheduler/docs',
    parameters: { limit: 'number', skip: 'number', states: ['running', 'x'] },
  },
  { route: '/_scheduler/*', method: 'GET', path: '/_scheduler/nope' },
  { route: '/_scheduler/docs/*', method: 'GET', path: '/_scheduler/docs/nope' },
  { route: '/_scheduler/docs/*', method: 'GET', path: '/_scheduler/docs/_replicator/nope' },
  {
    route: '/_replicate',
    method: 'POST',
    path: '/_replicate',
    body: { source: 'http://{host}/nope_s', target: 'http://{host}/nope_t', cancel: true },
    members: ['source', 'target', 'cancel', 'continuous', 'doc_ids', 'selector', 'filter'],
  },
];

const server: Endpoint[] = [
  { route: '/_up', method: 'GET', path: '/_up' },
  { route: '/_uuids', method: 'GET', path: '/_uuids', parameters: { count: 'number' } },
  {
    route: '/_all_dbs',
    method: 'GET',
    path: '/_all_dbs',
    query: 'startkey="{db}"&endkey="{db}"',
    parameters: { limit: 'number', skip: 'number', descending: 'boolean', inclusive_end: 'boolean' },
  },
  {
    route: '/_dbs_info',
    method: 'POST',
    path: '/_dbs_info',
    body: { keys: ['{db}', 'nope'] },
    members: ['keys', 'keys.0'],
  },
  { route: '/_active_tasks', method: 'GET', path: '/_active_tasks' },
  { route: '/_membership', method: 'GET', path: '/_membership' },
  {
    route: '/_db_updates',
    method: 'GET',
    path: '/_db_updates',
    query: 'limit=0',
    parameters: { feed: ['normal', 'x'], timeout: ['1', 'x'], descending: 'boolean', since: ['now', 'x'] },
  },
  { route: '/_reshard', method: 'GET', path: '/_reshard/nope' },
  ...['_nope', '_config', '_log', '_restart', '_stats', 'Nope', 'nope%2F', '%zz'].map((name): Endpoint => ({
    route: '/{db}',
    method: 'GET',
    path: `/${name}`,
  })),
];

export const serverEndpoints: readonly Endpoint[] = [
  ...settings,
  ...session,
  ...node,
  ...replication,
  ...server,
];
