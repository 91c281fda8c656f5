import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { skipWithoutNats, TestNats } from './nats-servers.js';
import { TestNode } from './test-node.js';
import { until } from './until.js';

const fresh = { 'x-tuffet-reads': 'fresh' };
const forwardMs = 500;

describe('replications that requests ask for in a cluster', skipWithoutNats, async () => {
  const nats = await TestNats.start();
  const settings = { forward_timeout_ms: String(forwardMs) };
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map((name) => TestNode.start({ nats: nats.url, name, settings })),
  );
  const slow = await slowSource(nodes[0]!.client.url);
  after(async () => {
    slow.server.close();
    slow.server.closeAllConnections();
    await Promise.all(nodes.map((node) => node.close()));
    await nats.close();
  });
  for (const { client } of nodes) {
    await until(async () => (await client.get('/_cluster')).body.owner !== null);
    await until(async () => (await client.get('/_membership')).body.all_nodes.length === 3);
  }
  const { owner } = (await nodes[0]!.client.get('/_cluster')).body as { owner: string };
  const running = nodes.find(({ name }) => name === owner)!;
  const [first, second] = nodes.filter((node) => node !== running) as [TestNode, TestNode];
  await first.client.put('/source');
  await first.client.put('/source/a', {});
  await first.client.put('/target');
  const continuous = { source: 'source', target: 'target', continuous: true };

  const jobsAt = async ({ client }: TestNode): Promise<number> =>
    (await client.get('/_scheduler/jobs')).body.total_rows as number;
  const tasksAt = async ({ client }: TestNode): Promise<string[]> => {
    const tasks = (await client.get('/_active_tasks')).body as { type: string; node: string }[];
    return tasks.filter(({ type }) => type === 'replication').map(({ node }) => node);
  };

  test('are seen at every node, and ended at any', async () => {
    // A client is not believed that its request comes from other nodes.
    const headers = { ...fresh, 'x-tuffet-forwarded': 'one another' };
    const begun = await first.client.post('/_replicate', continuous, headers);
    assert.equal(begun.status, 202, begun.text);
    const id = encodeURIComponent(String(begun.body._local_id));
    for (const node of nodes) {
      await until(async () => (await tasksAt(node)).length > 0);
      assert.deepEqual(await tasksAt(node), [owner]);
      assert.equal((await node.client.get(`/_scheduler/jobs/${id}`)).status, 200);
      assert.equal(await jobsAt(node), 1);
    }
    await until(async () => (await second.client.get('/target/a')).status === 200);
    const ended = await second.client.post('/_replicate', { ...continuous, cancel: true }, fresh);
    assert.equal(ended.status, 200, ended.text);
    for (const node of nodes) assert.deepEqual([await jobsAt(node), await tasksAt(node)], [0, []]);
  });

  test('may take longer than other answers of another node', async () => {
    const body = { source: `${slow.url}/source`, target: 'target', checkpoint_interval: 1 };
    const begunAt = Date.now();
    const { status, text } = await first.client.post('/_replicate', body, fresh);
    assert.equal(status, 200, text);
    assert.ok(Date.now() - begunAt > 3 * forwardMs);
  });

  test('end with the node that runs them', async () => {
    await first.client.post('/_replicate', continuous, fresh);
    const waiting = first.client.post('/_replicate', { source: `${slow.url}/never`, target: 'target' });
    await until(async () => (await jobsAt(first)) === 2);
    running.process.kill('SIGSTOP');
    const { status, body } = await waiting;
    assert.deepEqual([status, body.error], [503, 'service_unavailable']);
    const others = [first, second];
    await until(async () => {
      const owners = await Promise.all(others.map(({ client }) => client.get('/_cluster')));
      return owners.every(({ body: { owner: now } }) => now !== null && now !== owner);
    });
    running.process.kill('SIGCONT');
    for (const node of others) await until(async () => (await jobsAt(node)) === 0);
    await until(async () => (await tasksAt(running)).length === 0);
    const again = await running.client.post('/_replicate', { source: 'source', target: 'target' }, fresh);
    assert.equal(again.status, 200, again.text);
  });
});

/** A server whose feed of changes comes late, or never. */
async function slowSource(source: string): Promise<{ url: string; server: http.Server }> {
  const server = http.createServer((request, response) => {
    const path = request.url!;
    if (path.includes('never')) return;
    const pass = (): void => {
      const headers = { ...request.headers, authorization: `Basic ${btoa('admin:secret')}` };
      const sent = http.request(source + path, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.rawHeaders);
        answer.pipe(response);
      });
      sent.on('error', () => response.destroy());
      request.pipe(sent);
    };
    setTimeout(pass, path.includes('_changes') ? 4 * forwardMs : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
