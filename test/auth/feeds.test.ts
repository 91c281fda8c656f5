import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { SocketClient } from '../support/socket-client.js';
import { addUser, openUsers, userPath } from '../support/users.js';

const admin = await startServer();
const ann = await addUser(admin, 'ann');

test('nobody but server admins follows who the users are, whichever way a feed is asked for', async () => {
  await openUsers(admin);
  for (const client of [ann, admin.anonymous]) {
    assertRefused(await client.get('/_users/_changes'), 401);
    assertRefused(await client.post('/_users/_changes', {}), 401);
    const socket = await new SocketClient(client, '/_feeds').opened();
    socket.say({ type: 'open', feed: 'f', db: '_users', credit: 10 });
    await socket.until('an answer', () => socket.messages.length > 0);
    assert.equal(socket.ofType('error', 'f').length, 1);
    assert.equal(socket.rowsOf('f').length, 0);
    socket.stop();
  }
  assertOk(await admin.get('/_users/_changes'), 200);
});

test('a feed is opened for members alone', async () => {
  const db = await newDb(admin);
  await admin.put(`${db}/_security`, { members: { names: ['bob'] } });
  const socket = await new SocketClient(ann, '/_feeds').opened();
  socket.say({ type: 'open', feed: 'f', db: db.slice(1), credit: 10 });
  await socket.until('an answer', () => socket.messages.length > 0);
  assert.equal(socket.ofType('error', 'f').length, 1);
  socket.stop();
});

test('a feed ends soon after its user has lost the right to it: role, account, or the whole database of users', async () => {
  const db = await newDb(admin);
  await admin.put(`${db}/_security`, { members: { roles: ['readers'] } });
  const carl = await addUser(admin, 'carl', { roles: ['readers'] });
  const dora = await addUser(admin, 'dora', { roles: ['readers'] });
  const sockets = [carl, dora].map((client) => new SocketClient(client, `${db}/_changes?credit=100`));
  for (const socket of sockets) await socket.opened();
  await admin.put(`${db}/one`, {});
  for (const socket of sockets) await socket.until('the row', () => socket.rows.length === 1);
  const doc = (await admin.get(userPath('carl'))).body;
  assertOk(await admin.put(userPath('carl'), { ...doc, roles: [] }), 201);
  await sockets[0]!.until('the end', () => sockets[0]!.closed !== undefined);
  await admin.put(`${db}/two`, {});
  await sockets[1]!.until('the row of who stays', () => sockets[1]!.rows.length === 2);
  assertOk(await admin.delete('/_users'), 200);
  await sockets[1]!.until('the end', () => sockets[1]!.closed !== undefined);
  assert.equal(sockets[0]!.rows.length, 1);
});
