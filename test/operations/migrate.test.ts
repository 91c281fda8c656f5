import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { HttpClient } from '../support/http-client.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { tuffet } from './cli.js';
import { putConflict } from './conflict.js';

const source = await startServer();
const large = randomBytes(100_000);
await fill(source);

async function fill(client: HttpClient): Promise<void> {
  await client.put('/no%2Ftes?q=3');
  await putConflict(client, '/no%2Ftes');
  const docs = Array.from({ length: 300 }, (_, n) => ({ _id: `d${n}`, n }));
  const { body } = await client.post('/no%2Ftes/_bulk_docs', { docs });
  await client.delete(`/no%2Ftes/d0?rev=${body[0].rev}`);
  await client.put('/no%2Ftes/_design/views', { views: { all: { map: 'function (doc) { emit(doc.n); }' } } });
  await client.put('/no%2Ftes/_local/mark', { at: 7 });
  await client.put('/no%2Ftes/_local/checkpoint', { session_id: 'x', history: [], source_last_seq: '9-x' });
  await client.put('/no%2Ftes/_security', { members: { names: ['ann'], roles: [] } });
  await client.put('/no%2Ftes/_revs_limit', 77);
  await client.put('/no%2Ftes/_auto_purge', { deleted_document_ttl: '90_days' });
  await client.put('/no%2Ftes/_expiry', { field: 'until' });
  await client.send('PUT', '/no%2Ftes/with/large.bin', { raw: large, headers: { 'content-type': 'x/y' } });
  await client.put('/parts?partitioned=true');
  await client.put('/parts/a:1', {});
  await client.put('/_users/org.couchdb.user:ann', {
    name: 'ann',
    password: 'pw',
    roles: ['x'],
    type: 'user',
  });
  await client.put('/_replicator/old', {
    source: 'http://127.0.0.1:1/nowhere',
    target: 'http://127.0.0.1:1/neither',
  });
  await client.put('/_node/_local/_config/admins/second', 'word');
  await client.put('/_node/_local/_config/cors/origins', 'https://app.example');
}

const paths = [
  '/no%2Ftes/twice?conflicts=true&revs=true',
  '/no%2Ftes/_all_docs?include_docs=true',
  '/no%2Ftes/d0?rev=2-x&open_revs=all&revs=true',
  '/no%2Ftes/_local/mark',
  '/no%2Ftes/_security',
];

async function assertSame(target: HttpClient, name = 'no%2Ftes'): Promise<void> {
  for (const path of paths) {
    const there = await target.get(path.replace('no%2Ftes', name));
    assert.deepEqual(there.body, (await source.get(path)).body, path);
  }
  const answer = await fetch(`${target.url}/${name}/with/large.bin`, {
    headers: { authorization: `Basic ${btoa('admin:secret')}` },
  });
  assert.ok(Buffer.from(await answer.arrayBuffer()).equals(large));
}

test('migrate copies a server and verifies it; a second run finds nothing to do', async () => {
  const target = await startServer();
  const args = ['migrate', '--from', source.urlWithCredentials, '--to', target.urlWithCredentials, '--json'];
  for (const run of [1, 2]) {
    const { code, stdout, stderr } = await tuffet(...args);
    assert.equal(code, 0, `${run}: ${stdout}${stderr}`);
    assert.deepEqual(JSON.parse(stdout).paused_replications, [{ name: '_replicator', documents: 1 }]);
  }
  await assertSame(target);
  assert.equal((await target.get('/no%2Ftes/_revs_limit')).body, 77);
  assert.deepEqual((await target.get('/no%2Ftes/_auto_purge')).body, { deleted_document_ttl: '90_days' });
  assert.deepEqual((await target.get('/no%2Ftes/_expiry')).body, { field: 'until' });
  assert.equal((await target.get('/no%2Ftes')).body.cluster.q, 3);
  assert.equal((await target.get('/no%2Ftes/_local/checkpoint')).status, 404);
  assert.equal((await target.get('/parts')).body.props.partitioned, true);
  assert.equal((await target.as('ann:pw').get('/_session')).body.userCtx.name, 'ann');
  assert.deepEqual((await target.as('second:word').get('/_session')).body.userCtx.roles, ['_admin']);
  assert.equal((await target.get('/_node/_local/_config/cors/origins')).body, 'https://app.example');
  assert.equal((await target.get('/_replicator/old')).status, 404);
});

test('migrate leaves replications to the old server, and takes them over when it is told to', async () => {
  const target = await startServer();
  const addresses = ['--from', source.urlWithCredentials, '--to', target.urlWithCredentials];
  const args = ['migrate', ...addresses, '--db', '_replicator', '--no-config'];
  const left = await tuffet(...args);
  assert.equal(left.code, 0, left.stderr);
  assert.match(
    left.stdout,
    /^not copied {2}_replicator: 1 replications\nTo start .* --start-replications\.\n/,
  );
  assert.equal((await target.get('/_replicator/old')).status, 404);
  assert.deepEqual((await target.get('/_scheduler/docs')).body.docs, []);

  await tuffet(...args, '--start-replications', '--json');
  assert.equal((await target.get('/_replicator/old')).body.source, 'http://127.0.0.1:1/nowhere');
  assert.equal((await target.get('/_scheduler/docs')).body.docs.length, 1);
});

test('migrate says which databases differ', async () => {
  const target = await startServer();
  await target.put('/parts?partitioned=true');
  await target.put('/parts/a:extra', {});
  const args = [
    '--from',
    source.urlWithCredentials,
    '--to',
    target.urlWithCredentials,
    '--db',
    'parts',
    '--no-config',
  ];
  const { code, stdout } = await tuffet('migrate', ...args);
  assert.equal(code, 1);
  assert.match(stdout, /^DIFFERS {3}parts: 1 documents.*differ/);
});

test('a security object whose viewers have another form is taken without them, and that is reported', async () => {
  const target = await startServer();
  const file = path.join(temporaryFolder(), 'foreign.ndjson');
  const security = { members: { names: ['ann'] }, viewers: ['eve'], more: 1 };
  fs.writeFileSync(file, `{"_id":"one"}\n${JSON.stringify({ _id: '_security', ...security })}\n`);
  const { code, stdout, stderr } = await tuffet('import', `${target.urlWithCredentials}/d`, '--input', file);
  assert.equal(code, 1);
  assert.match(stdout, /^1 documents imported, 1 refused\.\n$/);
  assert.match(stderr, /^_security: `viewers` .* was not copied\n$/);
  assert.deepEqual((await target.get('/d/_security')).body, { members: { names: ['ann'] }, more: 1 });
});

test('what export writes, import brings back with revisions, attachments and local documents', async () => {
  const target = await startServer();
  const file = path.join(temporaryFolder(), 'notes.ndjson');
  const exported = await tuffet('export', `${source.urlWithCredentials}/no%2Ftes`, '--output', file);
  assert.equal(exported.code, 0, exported.stderr);
  const imported = await tuffet('import', `${target.urlWithCredentials}/copy`, '--input', file);
  assert.equal(imported.code, 0, imported.stderr);
  assert.match(imported.stdout, /^\d+ documents imported, 0 refused\.\n$/);
  await assertSame(target, 'copy');
});

test('import takes plain objects, and stops at a line that is none', async () => {
  const target = await startServer();
  const file = path.join(temporaryFolder(), 'plain.ndjson');
  fs.writeFileSync(file, '{"a":1}\n\n{"_id":"x"}\r\n{"_id":"_bad"}\n');
  const plain = await tuffet('import', `${target.urlWithCredentials}/plain`, '--input', file);
  assert.equal(plain.code, 1, plain.stderr);
  assert.equal((await target.get('/plain')).status, 200);
  fs.writeFileSync(file, '{"_id":"y"}\n[1]\n');
  const broken = await tuffet('import', `${target.urlWithCredentials}/broken`, '--input', file);
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /^Line 2 is no JSON object/);
});

test('unreachable servers, wrong passwords and wrong addresses are one line each', async () => {
  const wrong: [string[], RegExp][] = [
    [['export', 'http://127.0.0.1:1/x'], /can't be reached/],
    [['export', 'notes'], /address of a database looks like/],
    [['export'], /Name the address/],
    [['import', `${source.url.replace('://', '://admin:wrong@')}/x`, '--input', '/dev/null'], /answered 401/],
    [['export', `${source.urlWithCredentials}/missing`], /answered 404/],
    [['migrate', '--from', 'ftp://x', '--to', 'http://x'], /begins with http/],
    [['migrate', '--to', 'http://x'], /--from is missing/],
  ];
  for (const [args, message] of wrong) {
    const { code, stderr } = await tuffet(...args);
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 1);
    assert.ok(!stderr.includes('wrong@') && !stderr.includes('secret'));
  }
});
