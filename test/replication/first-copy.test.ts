import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { Front } from './front.js';
import { addressOf, assertSame, fillAtRandom, newest, replicate } from './scene.js';

const server = await startServer({ dataDir: temporaryFolder() });
const front = await Front.start(server.url);

test('an empty target is not asked what it lacks, and one with documents is', async () => {
  const [from, to] = [await newDb(server), await newDb(server)];
  await fillAtRandom(server, from, 60, 3);
  const request = { source: addressOf(server, from), target: front.url(to), worker_batch_size: 10 };
  const first = newest(await replicate(server, request));
  assert.equal(front.count('_revs_diff'), 0);
  assert.equal(first['missing_found'], first['missing_checked']);
  await assertSame([server, from], [server, to]);
  await server.put(`${from}/further`, {});
  const second = newest(await replicate(server, request));
  assert.ok(front.count('_revs_diff') > 0);
  assert.equal(second['missing_found'], 1);
  await assertSame([server, from], [server, to]);
});

test('what was in an empty target by the second attempt is not sent again', async () => {
  const [from, to] = [await newDb(server), await newDb(server)];
  await server.post(`${from}/_bulk_docs`, {
    docs: Array.from({ length: 30 }, (_, n) => ({ _id: `d${n}`, n })),
  });
  let lost = false;
  front.interfere = ({ path }, response) => {
    if (lost || !path.includes('_bulk_docs') || !path.includes(to)) return false;
    lost = true;
    // The documents arrive by another way, and the answer gets lost.
    void server
      .post('/_replicate', { source: from.slice(1), target: to.slice(1) })
      .then(() => response.writeHead(503).end('{}'));
    return true;
  };
  const before = front.count('_revs_diff');
  const request = { source: addressOf(server, from), target: front.url(to), retries_per_request: 0 };
  await server.post('/_replicate', request);
  front.interfere = () => false;
  const { docs_written } = newest(await replicate(server, request));
  assert.ok(front.count('_revs_diff') > before);
  assert.ok([undefined, 0].includes(docs_written as undefined), String(docs_written));
  await assertSame([server, from], [server, to]);
});

const rev = (digit: string): string => `1-${digit.repeat(32)}`;
const doc = (id: string, digit: string, members = ''): string =>
  `{"_id":"${id}","_rev":"${rev(digit)}"${members},"_revisions":{"start":1,"ids":["${digit.repeat(32)}"]}}`;
const row = (id: string, ...items: string[]): string => `{"id":"${id}","docs":[${items.join(',')}]}`;
const ok = (text: string): string => `{"ok":${text}}`;

/** As other servers may write them: each a line of its own. */
const lines = [
  row('plain', ok(doc('plain', 'a', ',"n":1.50'))),
  row('two', ok(doc('two', 'a')), ok(doc('two', 'b'))),
  row('inside', ok(doc('inside', 'a', ',"list":[{"ok":{"_id":"no"}}]'))),
  row('escaped', ok(doc('escaped', 'a', ',"\\u005fattachments":{}'))),
  row('gone', `{"error":{"id":"gone","rev":"${rev('a')}","error":"not_found","reason":"missing"}}`),
  row('half', ok(doc('half', 'a', ',"text":"\\ud800"'))),
  row('huge', ok(doc('huge', 'a', ',"n":1e400'))),
  row('later', ok(`{"n":1,"_id":"later","_rev":"${rev('a')}"}`)),
  `${row('same', ok(doc('same', 'a')))},${row('line', ok(doc('line', 'a')))}`,
  row('last', ok(doc('last', 'a', ',"größe":"µ"'))),
];
const asked = 'plain two inside escaped gone half huge later same line last'.split(' ');

const source = http.createServer((request, response) => {
  const { pathname } = new URL(request.url!, 'http://localhost');
  request.resume();
  request.on('end', () => {
    if (/^.db.?$/.test(pathname)) return response.end('{"db_name":"db"}');
    if (pathname.endsWith('_changes')) {
      const results = asked.map((id, i) => {
        const changes = id === 'two' ? [{ rev: rev('a') }, { rev: rev('b') }] : [{ rev: rev('a') }];
        return { seq: i + 1, id, changes };
      });
      return response.end(JSON.stringify({ results, last_seq: asked.length, pending: 0 }));
    }
    if (pathname.endsWith('_bulk_get')) return response.end(`{"results": [${lines.join(',\n')}]}\n`);
    return response.writeHead(pathname.includes('_local') ? 404 : 403).end('{}');
  });
});
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
after(() => {
  source.closeAllConnections();
  source.close();
});

for (const way of ['within', 'over HTTP']) {
  test(`rows of another server are read as they are, however they lie in lines, into a target ${way}`, async () => {
    const to = await newDb(server);
    const target = way === 'within' ? to.slice(1) : addressOf(server, to);
    const { port } = source.address() as AddressInfo;
    const request = { source: `http://127.0.0.1:${port}/db`, target, use_checkpoints: false };
    await replicate(server, request);
    const { body } = await server.get(`${to}/_all_docs?include_docs=true&conflicts=true`);
    const rows = (body as { rows: { id: string; doc: Record<string, unknown> }[] }).rows;
    const refused = ['gone', 'half', 'huge'];
    assert.deepEqual(
      rows.map(({ id }) => id),
      asked.filter((id) => !refused.includes(id)).sort(),
    );
    const found = new Map(rows.map(({ id, doc: each }) => [id, each]));
    assert.deepEqual(found.get('two')!['_conflicts'], [rev('a')]);
    assert.deepEqual(found.get('inside')!['list'], [{ ok: { _id: 'no' } }]);
    assert.equal(found.get('last')!['größe'], 'µ');
    assert.match((await server.get(`${to}/plain`)).text, /"n":1\.50/);
  });
}
