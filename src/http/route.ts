import type { Database } from '../cluster/database.js';
import type { Exchange } from './exchange.js';

/**
 * Who may call a route. `public`: everybody; `server_admin`: server admins; `metrics`: server admins and those with the
 * role `_metrics`; `member`: whoever may read the database; `db_admin`: its admins; `maintenance`: the same, refused
 * in other words.
 */
export type Access = 'public' | 'server_admin' | 'metrics' | 'member' | 'db_admin' | 'maintenance';

/**
 * Routes are data: a path, the methods it takes, and who may call it. `{name}` stands for one part of the path, `*` at
 * the end for any number of them.
 */
export interface Route<Handler> {
  path: string;
  /** As the `Allow` header has it. HEAD is answered like GET, without the body. */
  allow: string;
  access: Access;
  methods: Readonly<Record<string, Handler>>;
}

export type ServerHandler = (exchange: Exchange) => void | Promise<void>;
export type DatabaseHandler = (exchange: Exchange, database: Database) => void | Promise<void>;
export type ServerRoute = Route<ServerHandler>;
export type DatabaseRoute = Route<DatabaseHandler>;

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
