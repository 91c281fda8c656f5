import assert from 'node:assert/strict';
import test from 'node:test';
import { startServer } from '../support/server.js';

const client = await startServer();

test('the database of users has the design document that clients look for, also when it is made anew', async () => {
  const path = '/_users/_design/_auth';
  assert.equal((await client.get(path)).body.language, 'javascript');
  await client.delete('/_users');
  assert.equal((await client.put('/_users')).status, 201);
  assert.equal((await client.get(path)).status, 200);
  const changes = await client.get('/_users/_changes?filter=_design');
  assert.deepEqual(
    (changes.body.results as { id: string }[]).map(({ id }) => id),
    ['_design/_auth'],
  );
  const user = { name: 'jan', password: 'apple', roles: [], type: 'user' };
  assert.equal((await client.put('/_users/org.couchdb.user:jan', user)).status, 201);
  assert.equal((await client.as('jan:apple').get('/_session')).body.userCtx.name, 'jan');
});
