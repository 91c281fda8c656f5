import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../support/http-client.js';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };

describe('three nodes', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name })));
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];

  test('they know each other', async () => {
    const names = nodes.map(({ name }) => name);
    for (const { client } of nodes)
      await until(async () => {
        const { body } = await client.get('/_membership');
        return JSON.stringify(body) === JSON.stringify({ all_nodes: names, cluster_nodes: names });
      });
  });

  test('a database that is created on one is there on all, and is deleted on all', async () => {
    assert.equal((await a.client.put('/made')).status, 201);
    for (const { client } of nodes) assert.equal((await client.get('/made', fresh)).status, 200);
    assert.equal((await b.client.put('/made', undefined, fresh)).status, 412);
    assert.equal((await c.client.delete('/made', fresh)).status, 200);
    for (const { client } of nodes) assert.equal((await client.get('/made', fresh)).status, 404);
    const created = await Promise.all(nodes.map(({ client }) => client.put('/raced')));
    assert.deepEqual(created.map(({ status }) => status).sort(), [201, 412, 412]);
  });

  test('the information of a database counts the nodes that have it, on each of them', async () => {
    await a.client.put('/counted?q=2');
    for (const { client } of nodes) {
      const { body } = await client.get('/counted', fresh);
      assert.deepEqual(body.cluster, { q: 2, n: 3, w: 2, r: 2 });
      const { body: listed } = await client.post('/_dbs_info', { keys: ['counted'] }, fresh);
      assert.deepEqual(listed[0].info.cluster, body.cluster);
    }
  });

  test('of writers that change the same revision on different nodes, one gets 201 and the others 409', async () => {
    await a.client.put('/race');
    await Promise.all(nodes.map(({ client }) => client.get('/race', fresh)));
    let rev: string | undefined;
    for (let n = 0; n < 20; n++) {
      const body = (at: number): object => ({ n, at, ...(rev !== undefined && { _rev: rev }) });
      const answers = await Promise.all(nodes.map(({ client }, at) => client.put('/race/doc', body(at))));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409], `round ${n}`);
      ({ rev } = answers.find(({ status }) => status === 201)!.body as { rev: string });
    }
    for (const { client } of nodes) {
      const { body } = await client.get('/race/doc?conflicts=true&revs=true', fresh);
      assert.equal(body._rev, rev);
      assert.equal(body._conflicts, undefined);
      assert.equal(body._revisions.start, 20);
    }
  });

  test('a fresh read on any node sees what was acknowledged by another', async () => {
    await a.client.put('/fresh');
    let rev: string | undefined;
    for (let n = 0; n < 30; n++) {
      const written = await nodes[n % 3]!.client.put('/fresh/doc', { n, _rev: rev }, fresh);
      assert.equal(written.status, 201, written.text);
      ({ rev } = written.body);
      const { body } = await nodes[(n + 1) % 3]!.client.get('/fresh/doc', fresh);
      assert.deepEqual([body.n, body._rev], [n, rev]);
    }
  });

  test('a replication on another node has what was acknowledged before it, and so has what is known of databases', async () => {
    const docs = Array.from({ length: 3_000 }, () => ({ text: 'x'.repeat(200) }));
    for (let n = 0; n < 5; n++) {
      for (const name of ['source', 'target']) await a.client.put(`/${name}-${n}`);
      assert.equal((await b.client.get(`/target-${n}`, fresh)).status, 200);
      // It has what is written meanwhile to apply yet when it gets the request.
      b.process.kill('SIGSTOP');
      assert.equal((await a.client.post(`/source-${n}/_bulk_docs`, { docs })).status, 201);
      const replicated = b.client.post(
        '/_replicate',
        { source: `source-${n}`, target: `target-${n}` },
        fresh,
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
      b.process.kill('SIGCONT');
      const { status, body, text } = await replicated;
      assert.equal(status, 200, text);
      assert.equal(body.history?.[0].docs_written, 3_000, text);
      const { body: known } = await c.client.post('/_dbs_info', { keys: [`target-${n}`] }, fresh);
      assert.equal(known[0].info.doc_count, 3_000);
    }
  });

  test('sequences are the same on all nodes, and a feed continues at another one', async () => {
    await a.client.put('/feed');
    for (let n = 0; n < 10; n++) await nodes[n % 3]!.client.put(`/feed/d${n}`, {}, fresh);
    const whole = await a.client.get('/feed/_changes', fresh);
    for (const { client } of nodes)
      assert.deepEqual((await client.get('/feed/_changes', fresh)).body, whole.body);
    const { last_seq } = (await a.client.get('/feed/_changes?limit=4', fresh)).body;
    const rest = await b.client.get(`/feed/_changes?since=${last_seq}`, fresh);
    assert.deepEqual(rest.body.results, whole.body.results.slice(4));
    const waiting = c.client.get(`/feed/_changes?feed=longpoll&since=${whole.body.last_seq}&timeout=20000`);
    await a.client.put('/feed/next', {});
    assert.deepEqual(
      (await waiting).body.results.map(({ id }: { id: string }) => id),
      ['next'],
    );
  });

  test('local documents are no event, also where the node that records events has not opened the database', async () => {
    for (const [at, { client }] of nodes.entries()) {
      await client.put(`/quiet-${at}`);
      assert.equal((await client.put(`/quiet-${at}/_local/x`, {})).status, 201);
    }
    await a.client.put('/told');
    await b.client.put('/told/doc', {}, fresh);
    const updated = async (): Promise<string[]> => {
      const { body } = await c.client.get('/_db_updates', fresh);
      const events = body.results as { type: string; db_name: string }[];
      return events.filter(({ type }) => type === 'updated').map(({ db_name }) => db_name);
    };
    await until(async () => (await updated()).includes('told'));
    assert.deepEqual(
      (await updated()).filter((name) => name.startsWith('quiet')),
      [],
    );
  });

  test('a validation function that was saved on one node is applied by all', async () => {
    await a.client.put('/judged');
    const validate_doc_update = 'function (doc) { if (!doc.fine) throw {forbidden: "no"}; }';
    assert.equal((await b.client.put('/judged/_design/v', { validate_doc_update }, fresh)).status, 201);
    const answers: Answer[] = [];
    for (const { client } of nodes) answers.push(await client.put('/judged/x', { fine: false }, fresh));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 403, 403],
    );
    assert.equal((await c.client.put('/judged/x', { fine: true })).status, 201);
  });

  test('attachments are read on other nodes', async () => {
    await a.client.put('/files');
    const bytes = randomBytes(150_000);
    const headers = { 'content-type': 'application/octet-stream', ...fresh };
    const put = await b.client.send('PUT', '/files/doc/large', { raw: bytes, headers });
    assert.equal(put.status, 201, put.text);
    for (const { client } of nodes) {
      const answer = await fetch(`${client.url}/files/doc/large`, {
        headers: { ...fresh, authorization: `Basic ${btoa('admin:secret')}` },
      });
      assert.equal(answer.status, 200);
      assert.ok(bytes.equals(Buffer.from(await answer.arrayBuffer())));
    }
  });

  test('only nodes of the cluster may ask for blobs', async () => {
    const path = `/_cluster_blobs/${'0'.repeat(64)}`;
    assert.equal((await a.client.get(path)).status, 401);
    assert.equal((await a.client.get(path, { 'x-tuffet-cluster-secret': 'wrong' })).status, 401);
    const asked = async (node: string): Promise<number> => {
      const headers = { 'x-tuffet-cluster-secret': 'shared', 'x-tuffet-cluster-node': node };
      return (await a.client.get(path, headers)).status;
    };
    assert.equal(await asked(a.name), 404);
    assert.equal(await asked(b.name), 400);
  });

  test('a node that is killed under writes catches up, and all have the same bytes', async () => {
    await a.client.put('/killed');
    await Promise.all(nodes.map(({ client }) => client.get('/killed', fresh)));
    const saved = new Set<string>();
    let stopped = false;
    const writers = nodes.map(async (node, at) => {
      for (let n = 0; !stopped; n++) {
        const id = `${at}-${n}`;
        const answer = await node.client.put(`/killed/${id}`, { n }).catch(() => undefined);
        if (answer?.status === 201) saved.add(id);
        else await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    await until(() => saved.size > 50);
    await b.end('SIGKILL');
    const before = saved.size;
    await until(() => saved.size > before + 50);
    await b.run();
    const back = saved.size;
    await until(() => saved.size > back + 50);
    stopped = true;
    await Promise.all(writers);
    for (const { client } of nodes) {
      const { body } = await client.get('/killed/_all_docs', fresh);
      const ids = new Set(body.rows.map(({ id }: { id: string }) => id));
      assert.deepEqual(
        [...saved].filter((id) => !ids.has(id)),
        [],
      );
    }
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    const [first, ...others] = await Promise.all(nodes.map((node) => node.contents('killed')));
    assert.ok(first!.documents.length > 100);
    for (const other of others) assert.ok(isDeepStrictEqual(other, first));
  });
});
