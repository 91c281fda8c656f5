import type { Database } from '../../node/database.js';
import type { Exchange } from '../exchange.js';

/** Who may call a route, and what `docs/access.md` says of it. `access.ts` checks it. */
export const accesses = {
  public: 'everybody',
  server_admin: 'server admins',
  replicate: 'server admins',
  all_dbs: 'server admins; everybody if `[chttpd] admin_only_all_dbs` is false',
  metrics: 'server admins and users with the role `_metrics`',
  member: 'members and viewers of the database',
  writer: 'members of the database',
  listing: 'members and viewers of the database; of databases with users or replications, server admins',
  local: 'members and viewers of the database; of databases with users, their admins',
  local_writer: 'members of the database; of databases with users, their admins',
  local_listing:
    'members and viewers of the database; of databases with users or replications, server admins',
  db_admin: 'admins of the database',
  design_writer: 'admins of the database; members are told of a conflict first',
  maintenance: 'admins of the database; all others get 401, logged in or not',
} as const;

export type Access = keyof typeof accesses;

/**
 * Routes are data: a path, the methods it takes, and who may call it. `{name}` stands for one part of the path, `*` at
 * the end for any number of them.
 */
export interface Route<Handler> {
  path: string;
  /** As the `Allow` header has it. HEAD is answered like GET, without the body. */
  allow: string;
  /** For all its methods, or for each. */
  access: Access | Readonly<Record<string, Access>>;
  methods: Readonly<Record<string, Handler>>;
}

/** For addresses that answer every method alike; HEAD is as GET. */
export const everyMethod = ['GET', 'POST', 'PUT', 'DELETE', 'COPY', 'OPTIONS', 'PATCH', 'TRACE'] as const;

/** One handler for every method. */
export function forEveryMethod<Handler>(handler: Handler): Readonly<Record<string, Handler>> {
  return Object.fromEntries(everyMethod.map((method) => [method, handler]));
}

export type ServerHandler = (exchange: Exchange) => void | Promise<void>;
export type DatabaseHandler = (exchange: Exchange, database: Database) => void | Promise<void>;
export type ServerRoute = Route<ServerHandler>;
export type DatabaseRoute = Route<DatabaseHandler>;

/** Who may call a method of a route; HEAD is as GET. */
export function accessOf({ access }: Pick<Route<unknown>, 'access'>, method: string): Access {
  if (typeof access === 'string') return access;
  // What is not said is not allowed.
  return access[method === 'HEAD' ? 'GET' : method] ?? 'server_admin';
}

/** Whether a route's path fits the parts of a request's. */
function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  const open = pattern.at(-1) === '*';
  const length = open ? pattern.length - 1 : pattern.length;
  if (open ? parts.length < length : parts.length !== length) return false;
  for (let i = 0; i < length; i++) {
    const expected = pattern[i]!;
    if (!expected.startsWith('{') && expected !== parts[i]) return false;
  }
  return true;
}

/** Finds the route of a request by the one part that tells most apart. */
export class RouteTable<Handler> {
  readonly #byPart = new Map<string, { pattern: string[]; route: Route<Handler> }[]>();

  constructor(
    routes: readonly Route<Handler>[],
    private readonly part: number,
  ) {
    for (const route of routes) {
      const pattern = route.path.split('/').filter((each) => each !== '');
      const key = pattern[part] ?? '';
      const list = this.#byPart.get(key) ?? [];
      this.#byPart.set(key, [...list, { pattern, route }]);
    }
  }

  find(parts: readonly string[]): Route<Handler> | undefined {
    return this.#byPart.get(parts[this.part] ?? '')?.find(({ pattern }) => fits(pattern, parts))?.route;
  }
}
