import { call, get } from './http.js';

export interface Session {
  userCtx: { name: string | null; roles: string[] };
}

export const readSession = (): Promise<Session> => get<Session>(['_session']);

export const logIn = (name: string, password: string, token?: string): Promise<unknown> =>
  call('POST', ['_session'], { json: { name, password, ...(token ? { token } : {}) } });

export const logOut = (): Promise<unknown> => call('DELETE', ['_session']);

export const isServerAdmin = (session: Session): boolean => session.userCtx.roles.includes('_admin');

/** Server admins are kept in the configuration, everybody else in the users database. */
export async function changePassword(session: Session, password: string): Promise<void> {
  const name = session.userCtx.name!;
  if (isServerAdmin(session)) {
    await call('PUT', ['_node', '_local', '_config', 'admins', name], { json: password });
  } else {
    const id = `org.couchdb.user:${name}`;
    const user = await get<Record<string, unknown>>(['_users', id]);
    await call('PUT', ['_users', id], { json: { ...user, password } });
  }
  // A new password ends the user's sessions, this one too.
  await logIn(name, password);
}
