import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeedClient } from '../support/feed-client.js';
import { HttpClient } from '../support/http-client.js';
import { ServerProcess } from './server-process.js';

const restarts = 50;
const documents = 20;

/** Writes revisions of a few documents of its own until the server is gone. */
async function write(client: HttpClient, name: string, revs: Map<string, string>): Promise<number> {
  let written = 0;
  for (;;) {
    const id = `${name}${Math.floor(Math.random() * documents)}`;
    try {
      const rev = revs.get(id);
      const { status, body } = await client.put(`/killed/${id}`, {
        ...(rev === undefined ? {} : { _rev: rev }),
        n: written,
      });
      if (status === 201) revs.set(id, body.rev as string);
      // A write whose answer was lost may have been saved.
      else revs.set(id, (await client.get(`/killed/${id}`)).body._rev as string);
      written++;
    } catch {
      return written;
    }
  }
}

test(`a feed that is followed through ${restarts} kills of the server sees the last revision of every document`, async (t) => {
  const server = await ServerProcess.start(t);
  await server.createDatabase('killed');
  const revs = new Map<string, string>();
  const seen = new Map<string, string>();
  let last = '0';
  let rows = 0;
  let written = 0;
  const take = (feed: FeedClient): void => {
    for (const { id, seq, changes } of feed.rows) {
      seen.set(id!, changes![0]!.rev);
      last = seq!;
      rows++;
    }
  };
  const follow = (client: HttpClient): FeedClient =>
    new FeedClient(
      client,
      `/killed/_changes?feed=continuous&heartbeat=5000&since=${encodeURIComponent(last)}`,
    );
  for (let round = 0; round < restarts; round++) {
    const client = new HttpClient(server.url);
    const feed = await follow(client).begun();
    assert.equal(feed.status, 200, feed.text);
    const writing = Promise.all(['a', 'b', 'c', 'd'].map((name) => write(client, name, revs)));
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 300));
    await server.stop('SIGKILL');
    for (const count of await writing) written += count;
    await feed.ended();
    take(feed);
    await server.start();
  }
  const client = new HttpClient(server.url);
  const feed = follow(client);
  const { body } = await client.get('/killed/_all_docs');
  const current = new Map(
    (body.rows as { id: string; value: { rev: string } }[]).map(({ id, value }) => [id, value.rev]),
  );
  const isComplete = (): boolean => {
    const now = new Map(seen);
    for (const { id, changes } of feed.rows) now.set(id!, changes![0]!.rev);
    return [...current].every(([id, rev]) => now.get(id) === rev);
  };
  await feed.until('every last revision is seen', isComplete);
  feed.stop();
  take(feed);
  assert.deepEqual([...seen].sort(), [...current].sort());
  console.log(`${written} writes, ${rows} rows over ${restarts} restarts`);
});
