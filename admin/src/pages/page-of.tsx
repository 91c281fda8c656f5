import type { Route } from '../lib/router.js';
import { Page } from '../ui/page.js';
import { AccountPage } from './account.js';
import { ChangesPage } from './changes.js';
import { ConfigPage } from './config.js';
import { DatabasesPage } from './databases.js';
import { DocumentPage } from './document/document-page.js';
import { DocumentsPage } from './documents/documents-page.js';
import { FindPage } from './find/find-page.js';
import { ReplicationPage } from './replication/replication-page.js';
import { SearchPage } from './search.js';
import { ServerPage } from './server.js';
import { SettingsPage } from './settings/settings-page.js';
import { TasksPage } from './tasks.js';
import { UsersPage } from './users.js';
import { ViewsPage } from './views/views-page.js';

/** Which page an address means. */
export function PageOf({ route }: { route: Route }) {
  const { parts, query } = route;
  const [area, db, place = '', id] = parts;
  if (area === 'db' && db !== undefined) return databasePage(db, place, id, query);
  switch (area) {
    case undefined:
      return <DatabasesPage query={query} />;
    case 'replication':
      return <ReplicationPage />;
    case 'tasks':
      return <TasksPage />;
    case 'server':
      return <ServerPage />;
    case 'config':
      return <ConfigPage query={query} />;
    case 'users':
      return <UsersPage />;
    case 'account':
      return <AccountPage />;
    default:
      return <NoSuchPage />;
  }
}

function databasePage(db: string, place: string, id: string | undefined, query: URLSearchParams) {
  switch (place) {
    case '':
      return <DocumentsPage key={db} db={db} query={query} />;
    case 'doc':
      return <DocumentPage key={`${db}/${id}`} db={db} id={id ?? ''} query={query} />;
    case 'new':
      return <DocumentPage key={`${db}/new`} db={db} id={undefined} query={query} />;
    case 'find':
      return <FindPage key={db} db={db} query={query} />;
    case 'views':
      return <ViewsPage key={db} db={db} query={query} />;
    case 'search':
      return <SearchPage key={db} db={db} query={query} />;
    case 'changes':
      return <ChangesPage key={db} db={db} query={query} />;
    case 'settings':
      return <SettingsPage key={db} db={db} />;
    default:
      return <NoSuchPage />;
  }
}

function NoSuchPage() {
  return (
    <Page title="No such page">
      <p>
        This address leads nowhere. <a href="#/">All databases</a>
      </p>
    </Page>
  );
}
