import { link } from '../lib/router.js';
import { useHasSearch } from '../lib/use-has-search.js';
import { Tabs } from '../ui/tabs.js';
import { Text } from '../ui/text.js';

/** The name of a database as a heading with the way back. */
export function DatabaseHeading({ db, children }: { db: string; children?: preact.ComponentChildren }) {
  return (
    <span class="crumbs">
      <a href="#/">Databases</a>
      <span class="slash">/</span>
      {children === undefined ? (
        <Text value={db} max={80} />
      ) : (
        <>
          <a href={link(['db', db])}>
            <Text value={db} max={80} />
          </a>
          <span class="slash">/</span>
          {children}
        </>
      )}
    </span>
  );
}

export function DatabaseTabs({ db, current }: { db: string; current: string }) {
  const hasSearch = useHasSearch();
  const tabs = [
    { id: 'documents', title: 'Documents', href: link(['db', db]) },
    { id: 'find', title: 'Query', href: link(['db', db, 'find']) },
    { id: 'views', title: 'Views', href: link(['db', db, 'views']) },
    ...(hasSearch ? [{ id: 'search', title: 'Search', href: link(['db', db, 'search']) }] : []),
    { id: 'changes', title: 'Changes', href: link(['db', db, 'changes']) },
    { id: 'settings', title: 'Settings', href: link(['db', db, 'settings']) },
  ];
  return <Tabs label="Parts of the database" tabs={tabs} current={current} />;
}
