import { call, get } from './http.js';

export interface User {
  _id: string;
  _rev: string;
  name: string;
  roles: string[];
}

const prefix = 'org.couchdb.user:';
const usersMax = 200;

/** Users whose names begin with a text. */
export async function readUsers(begin: string, signal: AbortSignal): Promise<User[]> {
  const query = {
    include_docs: true,
    limit: usersMax,
    startkey: JSON.stringify(prefix + begin),
    endkey: JSON.stringify(`${prefix}${begin}\ufff0`),
  };
  const { rows } = await get<{ rows: { doc: User }[] }>(['_users', '_all_docs'], query, signal);
  return rows.map(({ doc }) => doc);
}

export const saveUser = (
  user: Partial<User> & { name: string; roles: string[]; password?: string },
): Promise<unknown> => call('PUT', ['_users', prefix + user.name], { json: { type: 'user', ...user } });

export const deleteUser = ({ _id, _rev }: User): Promise<unknown> =>
  call('DELETE', ['_users', _id], { query: { rev: _rev } });

const adminsPath = ['_node', '_local', '_config', 'admins'];

export const readAdmins = async (signal: AbortSignal): Promise<string[]> =>
  Object.keys(await get<Record<string, string>>(adminsPath, undefined, signal));

export const saveAdmin = (name: string, password: string): Promise<unknown> =>
  call('PUT', [...adminsPath, name], { json: password });

export const deleteAdmin = (name: string): Promise<unknown> => call('DELETE', [...adminsPath, name]);
