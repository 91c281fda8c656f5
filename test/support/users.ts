import assert from 'node:assert/strict';
import type { Answer, HttpClient } from './http-client.js';

export interface NewUser {
  roles?: string[];
  password?: string;
  [member: string]: unknown;
}

export const userPath = (name: string): string => `/_users/${encodeURIComponent(`org.couchdb.user:${name}`)}`;

/** A user document, with an id. */
export const userDoc = (name: string, more: object = {}): object => ({
  _id: `org.couchdb.user:${name}`,
  name,
  type: 'user',
  roles: [],
  ...more,
});

/** Adds a user; gives a client that is logged in as that user. */
export async function addUser(admin: HttpClient, name: string, more: NewUser = {}): Promise<HttpClient> {
  const { password = 'pw', roles = [] } = more;
  const answer = await admin.put(userPath(name), { ...more, name, type: 'user', roles, password });
  assert.equal(answer.status, 201, answer.text);
  return admin.as(`${name}:${password}`);
}

/** Lets everybody who may read the users database do so, as far as its own rules let them. */
export async function openUsers(admin: HttpClient): Promise<void> {
  await setOption(admin, 'couchdb/users_db_security_editable', 'true');
  const answer = await admin.put('/_users/_security', { admins: { roles: ['_admin'] }, members: {} });
  assert.equal(answer.status, 200, answer.text);
}

export async function setOption(admin: HttpClient, name: string, value: string): Promise<void> {
  const answer = await admin.put(`/_node/_local/_config/${name}`, value);
  assert.equal(answer.status, 200, answer.text);
}

export async function resetOption(admin: HttpClient, name: string): Promise<void> {
  await admin.delete(`/_node/_local/_config/${name}`);
}

/** The name of whoever is asking. */
export async function whoAmI(
  client: HttpClient,
  headers: Record<string, string> = {},
): Promise<string | null> {
  const answer: Answer = await client.get('/_session', headers);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.userCtx.name as string | null;
}

/** Logs in; gives the header that brings the session along. */
export async function logIn(client: HttpClient, name: string, password = 'pw'): Promise<{ cookie: string }> {
  const answer = await client.anonymous.post('/_session', { name, password });
  assert.equal(answer.status, 200, answer.text);
  return { cookie: answer.headers['set-cookie']![0]!.split(';')[0]! };
}
