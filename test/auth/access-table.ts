import { accesses, accessOf, type Access, type Route } from '../../src/http/routes/route.js';
import { allDatabaseRoutes, allServerRoutes, documentRoutes } from '../../src/http/routes/router.js';

export interface AccessRow {
  path: string;
  method: string;
  access: Access;
}

/** Every method of every route and who may call it, from the route tables themselves. */
export function accessRows(): AccessRow[] {
  const routes: Pick<Route<unknown>, 'path' | 'methods' | 'access'>[] = [
    ...allServerRoutes,
    ...documentRoutes,
    ...allDatabaseRoutes,
  ];
  return routes.flatMap((route) =>
    Object.keys(route.methods).map((method) => ({
      path: route.path,
      method,
      access: accessOf(route, method),
    })),
  );
}

/** The page that `docs/access.md` has to be. */
export function accessPage(): string {
  const groups = new Map<string, { path: string; methods: string[]; access: Access }>();
  for (const { path, method, access } of accessRows()) {
    const key = `${path} ${access}`;
    const group = groups.get(key) ?? { path, methods: [], access };
    group.methods.push(method);
    groups.set(key, group);
  }
  const rows = [...groups.values()].map(
    ({ path, methods, access }) => `| ${methods.join(', ')} | \`${path}\` | ${accesses[access]} |`,
  );
  return `${heading}${rows.join('\n')}\n`;
}

const heading = `# Who may call what

Made from the route tables by \`npm run access\`; a test compares. HEAD is as GET. Server admins may call everything;
admins of a database may do what its members may. Who is a viewer, a member and an admin of a database, its security object
says ([security.md](security.md)); a database without members and viewers has everybody as a member.

Beside this, what a document is decides who may write it: design documents are written by admins of the database,
whichever way they come (\`_bulk_docs\`, \`POST\`, \`COPY\`), and user documents by server admins and the user they belong to.
Documents of others in a database of users are not shown, nor what views and indexes make of them.

| methods | path | who |
|---|---|---|
`;
