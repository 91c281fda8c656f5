import { designDocs, type DesignDoc, type ViewSource } from '../../api/views.js';
import { link } from '../../lib/router.js';
import { useLoad } from '../../lib/use-load.js';
import { Await, Page } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Text } from '../../ui/text.js';
import { DatabaseHeading, DatabaseTabs } from '../database-head.js';
import { ViewEditor } from './view-editor.js';
import { ViewResults } from './view-results.js';

const newView: ViewSource = { map: 'function (doc) {\n  emit(doc._id, null);\n}' };

interface ViewName {
  ddoc: string;
  view: string;
  source: ViewSource;
}

export function ViewsPage({ db, query }: { db: string; query: URLSearchParams }) {
  const state = useLoad((signal) => designDocs(db, signal), [db]);
  const ddoc = query.get('ddoc') ?? '';
  const view = query.get('view') ?? '';
  const isOpen = query.has('ddoc');
  return (
    <Page
      title={`Views of ${db}`}
      heading={<DatabaseHeading db={db} />}
      actions={
        !isOpen && (
          <a class="button primary" href={link(['db', db, 'views'], { ddoc: '', view: '' })}>
            New view
          </a>
        )
      }
    >
      <DatabaseTabs db={db} current="views" />
      <Await state={state}>
        {(docs) =>
          isOpen ? (
            <>
              <p>
                <a href={link(['db', db, 'views'])}>All views</a>
              </p>
              <ViewEditor
                key={`${ddoc}/${view}`}
                db={db}
                ddoc={ddoc}
                view={view}
                source={sourceOf(docs, ddoc, view) ?? newView}
                onSaved={state.reload}
              />
              {sourceOf(docs, ddoc, view) && <ViewResults db={db} ddoc={ddoc} view={view} query={query} />}
            </>
          ) : (
            <ViewList db={db} views={viewsOf(docs)} />
          )
        }
      </Await>
    </Page>
  );
}

function viewsOf(docs: readonly DesignDoc[]): ViewName[] {
  return docs
    .filter(({ language = 'javascript' }) => language === 'javascript')
    .flatMap(({ _id, views = {} }) =>
      Object.entries(views).map(([view, source]) => ({ ddoc: _id.replace('_design/', ''), view, source })),
    );
}

function sourceOf(docs: readonly DesignDoc[], ddoc: string, view: string): ViewSource | undefined {
  return docs.find(({ _id }) => _id === `_design/${ddoc}`)?.views?.[view];
}

function ViewList({ db, views }: { db: string; views: ViewName[] }) {
  return (
    <Table
      label="Views"
      rows={views}
      keyOf={({ ddoc, view }) => `${ddoc}/${view}`}
      empty="No views yet. A view is an index that a function of yours fills."
      columns={[
        {
          title: 'View',
          cell: ({ ddoc, view }) => (
            <a href={link(['db', db, 'views'], { ddoc, view })}>
              <Text value={`${ddoc}/${view}`} />
            </a>
          ),
        },
        { title: 'Reduce', cell: ({ source }) => <Text value={source.reduce ?? 'none'} max={40} /> },
        {
          title: 'Design document',
          isMinor: true,
          cell: ({ ddoc }) => (
            <a href={link(['db', db, 'doc', `_design/${ddoc}`])}>
              <Text value={`_design/${ddoc}`} />
            </a>
          ),
        },
      ]}
    />
  );
}
