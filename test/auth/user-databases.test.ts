import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, HttpClient } from '../support/http-client.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { createServer } from '../../src/server/create-server.js';
import { HttpClient as Client } from '../support/http-client.js';

const auth = { chttpd_auth: { iterations: '100' } };
const bob = { name: 'bob', password: 'pw', roles: [], type: 'user' };
const bobsPath = '/userdb-626f62';

const addUser = (client: HttpClient, user: { name: string }): Promise<Answer> =>
  client.put(`/_users/org.couchdb.user:${encodeURIComponent(user.name)}`, user);

/** Waits until a request is answered as wanted. */
async function until(ask: () => Promise<Answer>, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    assert.ok(Date.now() < deadline, answer.text);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const hasBob = ({ body }: Answer): boolean => body.members?.names?.includes('bob') === true;

test('every user gets a database that nobody else may use', async () => {
  const client = await startServer({ config: { ...auth, couch_peruser: { enable: 'true', q: '2' } } });
  await addUser(client, bob);
  const { body } = await until(() => client.get(`${bobsPath}/_security`), hasBob);
  assert.deepEqual(body.admins.names, ['bob']);
  assert.equal((await client.get(bobsPath)).body.cluster.q, 2);
  assert.equal((await client.as('bob:pw').put(`${bobsPath}/mine`, {})).status, 201);
  assert.equal((await client.anonymous.get(`${bobsPath}/mine`)).status, 401);
  await addUser(client, { ...bob, name: 'zoë' });
  await until(
    () => client.get('/userdb-7a6fc3ab'),
    ({ status }) => status === 200,
  );
});

test('a user who goes leaves the database, without them among its names', async () => {
  const client = await startServer({ config: { ...auth, couch_peruser: { enable: 'true' } } });
  const { body } = await addUser(client, bob);
  await until(() => client.get(`${bobsPath}/_security`), hasBob);
  await client.delete(`/_users/org.couchdb.user:bob?rev=${body.rev}`);
  const left = await until(
    () => client.get(`${bobsPath}/_security`),
    (answer) => !hasBob(answer),
  );
  assert.deepEqual(left.body.admins.names, []);
});

test('with delete_dbs the database goes with the user, and the prefix can be chosen', async () => {
  const options = { enable: 'true', delete_dbs: 'true', database_prefix: 'of-' };
  const client = await startServer({ config: { ...auth, couch_peruser: options } });
  const { body } = await addUser(client, bob);
  await until(() => client.get('/of-626f62/_security'), hasBob);
  await client.delete(`/_users/org.couchdb.user:bob?rev=${body.rev}`);
  await until(
    () => client.get('/of-626f62'),
    ({ status }) => status === 404,
  );
});

test('switched on later, it makes the databases of those who are there', async () => {
  const dataDir = temporaryFolder();
  const server = await createServer({
    dataDir,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config: auth,
  });
  const client = new Client(server.url);
  try {
    await addUser(client, bob);
    assert.equal((await client.get(bobsPath)).status, 404);
    await client.put('/_node/_local/_config/couch_peruser/enable', 'true');
    await until(() => client.get(`${bobsPath}/_security`), hasBob);
    await client.put(`${bobsPath}/_security`, {
      members: { names: ['bob', 'eve'] },
      admins: { names: ['bob'] },
    });
  } finally {
    await server.close();
  }
  const again = await createServer({
    dataDir,
    admins: { admin: 'secret' },
    port: 0,
    logLevel: 'none',
    config: auth,
  });
  try {
    const { body } = await new Client(again.url).get(`${bobsPath}/_security`);
    assert.deepEqual(body.members.names, ['bob', 'eve']);
  } finally {
    await again.close();
  }
});

test('a prefix that no database can have is refused', async () => {
  const client = await startServer({ config: auth });
  for (const wrong of ['Big', '9', '_users', 'a b'])
    assert.equal(
      (await client.put('/_node/_local/_config/couch_peruser/database_prefix', wrong)).status,
      400,
    );
});
