import { useState } from 'preact/hooks';
import { search, searchIndexes } from '../api/search.js';
import { formatCount } from '../lib/format.js';
import { navigate, setQuery } from '../lib/router.js';
import { useLoad } from '../lib/use-load.js';
import { Field, Form, Select } from '../ui/form.js';
import { Await, Page, Section } from '../ui/page.js';
import { DatabaseHeading, DatabaseTabs } from './database-head.js';
import { DocTable } from './doc-table.js';

const pageSize = 25;

/** Text search in an index of a design document; the query stands in the address. */
export function SearchPage({ db, query }: { db: string; query: URLSearchParams }) {
  const indexes = useLoad((signal) => searchIndexes(db, signal), [db]);
  return (
    <Page title={`Search ${db}`} heading={<DatabaseHeading db={db} />}>
      <DatabaseTabs db={db} current="search" />
      <Await state={indexes}>
        {(names) =>
          names.length === 0 ? (
            <p class="empty">No search index yet. A design document defines them under indexes.</p>
          ) : (
            <SearchForm db={db} names={names} query={query} />
          )
        }
      </Await>
    </Page>
  );
}

function SearchForm({ db, names, query }: { db: string; names: string[]; query: URLSearchParams }) {
  const asked = query.get('q') ?? '';
  const index = query.get('index') ?? names[0]!;
  const [text, setText] = useState(asked);
  const [chosen, setChosen] = useState(index);
  const run = (): Promise<void> => {
    navigate(['db', db, 'search'], { index: chosen, q: text });
    return Promise.resolve();
  };
  return (
    <>
      <Form onSubmit={run} submit="Search">
        <Select
          label="Index"
          value={chosen}
          options={names.map((name) => [name, name] as const)}
          onChange={setChosen}
        />
        <Field
          label="Query"
          value={text}
          onInput={setText}
          required
          placeholder="title:pears AND city:oslo"
        />
      </Form>
      {asked !== '' && <SearchResults db={db} index={index} text={asked} bookmark={query.get('bookmark')} />}
    </>
  );
}

interface ResultsProps {
  db: string;
  index: string;
  text: string;
  bookmark: string | null;
}

function SearchResults({ db, index, text, bookmark }: ResultsProps) {
  const inputs = [db, index, text, bookmark];
  const state = useLoad((signal) => search(db, index, { q: text, bookmark }, pageSize, signal), inputs);
  return (
    <Section title="Results">
      <Await state={state}>
        {({ total_rows: total, rows, bookmark: next }) => (
          <>
            <p class="quiet" role="status">
              {formatCount(total)} found, the best first
            </p>
            <DocTable db={db} docs={rows.map(({ id, doc, fields }) => ({ _id: id, ...(doc ?? fields) }))} />
            <div class="toolbar">
              {bookmark !== null && (
                <button type="button" onClick={() => setQuery({ bookmark: undefined })}>
                  First page
                </button>
              )}
              {rows.length === pageSize && (
                <button type="button" onClick={() => setQuery({ bookmark: next })}>
                  Next page
                </button>
              )}
            </div>
          </>
        )}
      </Await>
    </Section>
  );
}
