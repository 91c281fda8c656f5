import { createHash } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { H2Client } from '../support/h2-client.js';
import { authorization, type ServerProcess } from './server-process.js';

/** Something that a client may do to a server, to the harm of others. */
export interface Attack {
  name: string;
  /** What has to be there first; not measured. */
  prepare?(server: ServerProcess): Promise<void>;
  run(server: ServerProcess): Promise<void>;
}

const hashOf = (text: string): string => createHash('md5').update(text).digest('hex');
const times = (count: number, make: (n: number) => unknown): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(',');

/** Sends a request, and gives its status: 0 where the server has closed the connection before all was sent. */
async function send(server: ServerProcess, method: string, path: string, body?: string): Promise<number> {
  try {
    const answer = await fetch(server.url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** The same for requests that the scene depends on. */
async function mustSend(server: ServerProcess, method: string, path: string, body?: string): Promise<void> {
  const status = await send(server, method, path, body);
  if (status < 200 || status > 299) throw new Error(`${method} ${path.slice(0, 100)}: ${status}`);
}

const database = (name: string) => (server: ServerProcess) => mustSend(server, 'PUT', `/${name}`);

const request = (name: string, method: string, path: string, body: () => string): Attack => ({
  name,
  run: async (server) => void (await send(server, method, path, body())),
});

const conflicts: readonly Attack[] = [
  {
    name: '10,000 conflicts of a document in one request',
    prepare: database('conflicts'),
    run: async (server) => {
      const docs = times(10_000, (n) => `{"_id":"c","_rev":"1-${hashOf(String(n))}","n":${n}}`);
      await mustSend(server, 'POST', '/conflicts/_bulk_docs', `{"new_edits":false,"docs":[${docs}]}`);
    },
  },
  ...['c?conflicts=true', 'c?open_revs=all', '_changes?style=all_docs'].map((path): Attack => ({
    name: `GET ${path} with 10,000 conflicts`,
    run: (server) => mustSend(server, 'GET', `/conflicts/${path}`),
  })),
  {
    name: 'replication of 10,000 conflicts',
    run: (server) =>
      mustSend(server, 'POST', '/_replicate', '{"source":"conflicts","target":"copy","create_target":true}'),
  },
  {
    name: 'deletion of 10,000 conflicts in one request',
    run: async (server) => {
      const docs = times(10_000, (n) => `{"_id":"c","_rev":"1-${hashOf(String(n))}","_deleted":true}`);
      await mustSend(server, 'POST', '/copy/_bulk_docs', `{"docs":[${docs}]}`);
    },
  },
  {
    name: '100 branches of 1,000 revisions',
    prepare: database('branches'),
    run: async (server) => {
      const docs = times(100, (branch) => {
        const ids = Array.from({ length: 1_000 }, (_, n) => hashOf(`${branch} ${n}`));
        const _revisions = { start: 1_000, ids };
        return JSON.stringify({ _id: 'wide', _rev: `1000-${ids[0]}`, _revisions });
      });
      await mustSend(server, 'POST', '/branches/_bulk_docs', `{"new_edits":false,"docs":[${docs}]}`);
    },
  },
];

const largeJson: readonly Attack[] = [
  {
    name: 'PUT of a document of 500,000 members',
    prepare: database('large'),
    run: (server) => mustSend(server, 'PUT', '/large/members', `{${times(500_000, (n) => `"k${n}":1`)}}`),
  },
  request(
    'PUT of 1.3 million equal members',
    'PUT',
    '/large/equal',
    () => `{${times(1_300_000, () => '"k":1')}}`,
  ),
  request('PUT of 63 MB', 'PUT', '/large/too', () => `{"a":[${'[],'.repeat(21_000_000)}1]}`),
  request('absent fields', 'POST', '/large/_find', () => {
    const fields = times(1_000, (n) => `"z${n}"`);
    return `{"selector":{"_id":{"$gt":null}},"fields":[${fields}]}`;
  }),
  {
    name: 'conditions for each of 3 million elements of a list',
    prepare: async (server) => {
      await database('list')(server);
      await mustSend(server, 'PUT', '/list/a', `{"a":[${'1,'.repeat(3_000_000)}1]}`);
    },
    run: async (server) => {
      const conditions = times(50, (n) => `{"a":{"$elemMatch":{"$eq":${n + 2}}}}`);
      const body = `{"selector":{"$or":[${conditions}]},"fields":["a.2000000","z"]}`;
      await mustSend(server, 'POST', '/list/_find', body);
      await mustSend(server, 'POST', '/list/_changes?filter=_selector', body);
    },
  },
  {
    name: 'a selector of 10,000 conditions',
    run: (server) =>
      mustSend(server, 'POST', '/large/_find', `{"selector":{"$or":[${times(9_999, (n) => `{"a":${n}}`)}]}}`),
  },
  {
    name: 'an attachment of 36 MB in a document',
    run: (server) =>
      mustSend(
        server,
        'PUT',
        '/large/data',
        `{"_attachments":{"a":{"data":"${'AAAA'.repeat(12_000_000)}"}}}`,
      ),
  },
  request('100,000 queries of ids', 'POST', '/large/_all_docs/queries', () => {
    return `{"queries":[${times(100_000, () => '{"limit":1}')}]}`;
  }),
  request('a selector of 25 million numbers', 'POST', '/large/_find', () => {
    return `{"selector":{"a":{"$eq":[${'1,'.repeat(25_000_000)}1]}}}`;
  }),
  request('a selector of 2 million numbers', 'POST', '/large/_find', () => {
    return `{"selector":{"a":{"$eq":[${'1,'.repeat(2_000_000)}1]}}}`;
  }),
  request(
    '5 million keys',
    'POST',
    '/large/_all_docs',
    () => `{"keys":[${'"doc000001",'.repeat(5_000_000)}"x"]}`,
  ),
  request(
    '240,000 keys',
    'POST',
    '/large/_all_docs',
    () => `{"keys":[${'"doc000001",'.repeat(240_000)}"x"]}`,
  ),
  request('_bulk_docs of 80,000', 'POST', '/large/_bulk_docs', () => {
    return `{"docs":[${times(80_000, (n) => `{"_id":"doc${n}","n":${n},"t":[1,2,{"a":${n}}]}`)}]}`;
  }),
  request('_revs_diff of 60,000', 'POST', '/large/_revs_diff', () => {
    return `{${times(60_000, (n) => `"doc${n}":["1-${hashOf(String(n))}"]`)}}`;
  }),
  request('60 MB of security', 'PUT', '/large/_security', () => `{"x":"${'y'.repeat(60_000_000)}"}`),
];

const listings: readonly Attack[] = [
  {
    name: '300,000 documents listed to a fast reader',
    prepare: async (server) => {
      await database('many')(server);
      for (let from = 0; from < 300_000; from += 10_000) {
        const docs = times(10_000, (n) => `{"_id":"d${from + n}","n":${n},"a":"xxxxxxxxxx"}`);
        await mustSend(server, 'POST', '/many/_bulk_docs', `{"docs":[${docs}]}`);
      }
    },
    run: async (server) => {
      for (const path of ['_changes', '_all_docs', '_all_docs?include_docs=true'])
        await mustSend(server, 'GET', `/many/${path}`);
      await Promise.all(Array.from({ length: 4 }, () => mustSend(server, 'GET', '/many/_changes')));
    },
  },
  {
    name: 'update of a document with 50,000 view rows',
    prepare: async (server) => {
      await database('rows')(server);
      const map = 'function (doc) { doc.tags.forEach(function (tag) { emit(tag, null); }); }';
      await mustSend(server, 'PUT', '/rows/_design/d', JSON.stringify({ views: { v: { map } } }));
      const docs = `{"_id":"x","tags":[${times(50_000, (n) => n)}]}`;
      await mustSend(server, 'POST', '/rows/_bulk_docs', `{"docs":[${docs}]}`);
      await mustSend(server, 'GET', '/rows/_design/d/_view/v?limit=1');
    },
    run: async (server) => {
      const found = await fetch(`${server.url}/rows/x`, { headers: { authorization } });
      const { _rev } = (await found.json()) as { _rev: string };
      const tags = times(50_000, (n) => n + 7);
      await mustSend(server, 'PUT', '/rows/x', `{"_rev":"${_rev}","tags":[${tags}]}`);
      await mustSend(server, 'GET', '/rows/_design/d/_view/v?limit=1');
    },
  },
];

/** Connections that send what they are given, and read nothing. */
async function hold(server: ServerProcess, count: number, texts: (n: number) => Iterable<string | Buffer>) {
  const { hostname, port } = new URL(server.url);
  const sockets = Array.from({ length: count }, (_, n) => {
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => undefined);
    for (const text of texts(n)) socket.write(text);
    socket.pause();
    return socket;
  });
  await sleep(4_000);
  for (const socket of sockets) socket.destroy();
}

const memory: readonly Attack[] = [
  {
    name: '50 unread answers of 8 MB',
    prepare: async (server) => {
      await database('unread')(server);
      await mustSend(server, 'PUT', '/unread/a', `{"p":"${'x'.repeat(7_900_000)}"}`);
    },
    run: (server) => hold(server, 50, () => ['GET /unread/a HTTP/1.1\r\nHost: x\r\n\r\n']),
  },
  {
    name: '30 held bodies of 61 MB',
    run: (server) =>
      hold(server, 30, function* (n) {
        const head = `PUT /unread/h${n} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 62000000\r\n\r\n`;
        yield head;
        for (let sent = 0; sent < 61; sent++) yield blank;
      }),
  },
  {
    name: '20,000 documents with batch=ok',
    run: async (server) => {
      const body = `{"p":"${'x'.repeat(20_000)}"}`;
      const post = async (): Promise<void> => {
        for (let n = 0; n < 500; n++) await send(server, 'POST', '/unread?batch=ok', body);
      };
      await Promise.all(Array.from({ length: 40 }, post));
    },
  },
];
const blank = Buffer.alloc(1_000_000, ' ');

const others: readonly Attack[] = [
  {
    name: 'HTTP/2 requests with 5,000 made-up methods',
    run: async (server) => {
      const client = new H2Client(server.tlsUrl);
      for (let from = 0; from < 5_000; from += 50) {
        const requests = Array.from({ length: 50 }, async (_, n) => {
          const stream = client.open(`M${from + n}`, '/');
          stream.on('error', () => undefined);
          stream.end();
          stream.resume();
          await new Promise((resolve) => stream.on('close', resolve));
        });
        await Promise.all(requests);
      }
      client.session.destroy();
    },
  },
  request('an id of 20 MB', 'POST', '/large', () => `{"_id":"${'i'.repeat(20_000_000)}"}`),
  ...[3_000, 200].map((count) =>
    request(`an $or of ${count} patterns`, 'POST', '/many/_find', () => {
      const patterns = times(count, (n) => `{"a":{"$regex":"(x+x+)+y${n}"}}`);
      return `{"selector":{"$or":[${patterns}]}}`;
    }),
  ),
];

export const attacks: readonly Attack[] = [...conflicts, ...largeJson, ...listings, ...memory, ...others];
