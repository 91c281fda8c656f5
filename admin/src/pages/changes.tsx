import { useEffect, useRef, useState } from 'preact/hooks';
import { followChanges, latestChanges, type Change, type ChangesFilter } from '../api/changes.js';
import { setQuery } from '../lib/router.js';
import { Field, Form } from '../ui/form.js';
import { ErrorBox } from '../ui/error-box.js';
import { Page } from '../ui/page.js';
import { Table } from '../ui/table.js';
import { DatabaseHeading, DatabaseTabs } from './database-head.js';
import { DocLink } from './doc-table.js';

const rowsKept = 200;
/** Changes may come by the thousand a second; the table is drawn a few times. */
const drawMs = 250;

export function ChangesPage({ db, query }: { db: string; query: URLSearchParams }) {
  const filter = query.get('filter') ?? '';
  const selector = query.get('selector') ?? '';
  const wanted = query.get('find') ?? '';
  const [isPaused, setIsPaused] = useState(false);
  const { rows, count, error, isLive, restart } = useChanges(db, { filter, selector }, isPaused);
  const shown = rows.filter(({ id }) => id.includes(wanted));
  return (
    <Page
      title={`Changes of ${db}`}
      heading={<DatabaseHeading db={db} />}
      actions={
        <>
          <span class={isLive ? 'badge good' : 'badge'} role="status">
            {isLive ? `live, ${count} new` : isPaused ? 'paused' : 'connecting'}
          </span>
          <button type="button" aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
            {isPaused ? 'Go on' : 'Pause'}
          </button>
        </>
      }
    >
      <DatabaseTabs db={db} current="changes" />
      <Filters filter={filter} selector={selector} />
      <input
        type="search"
        aria-label="Show ids that contain"
        placeholder="Show ids that contain…"
        value={wanted}
        onInput={(event) => setQuery({ find: event.currentTarget.value || undefined })}
      />
      <ErrorBox error={error} onRetry={restart} />
      <Table
        label="Changes"
        rows={shown}
        keyOf={({ seq }) => seq}
        empty="No changes yet. They appear here as they happen."
        columns={[
          { title: 'Document', cell: ({ id }) => <DocLink db={db} id={id} /> },
          {
            title: 'Kind',
            cell: ({ deleted }) =>
              deleted ? <span class="badge bad">deleted</span> : <span class="badge good">saved</span>,
          },
          {
            title: 'Revision',
            isMinor: true,
            cell: ({ changes }) => <code>{changes[0]?.rev.slice(0, 12)}</code>,
          },
          { title: 'Sequence', isMinor: true, cell: ({ seq }) => <code>{seq.split('-')[0]}</code> },
        ]}
      />
    </Page>
  );
}

function Filters({ filter: first, selector: second }: ChangesFilter) {
  const [filter, setFilter] = useState(first);
  const [selector, setSelector] = useState(second);
  const apply = (): Promise<void> => {
    if (selector !== '') JSON.parse(selector);
    setQuery({ filter: filter || undefined, selector: selector || undefined });
    return Promise.resolve();
  };
  return (
    <details class="section" open={first !== '' || second !== ''}>
      <summary>Filter on the server</summary>
      <Form onSubmit={apply} submit="Apply filter">
        <Field
          label="Filter function"
          value={filter}
          onInput={setFilter}
          placeholder="design-document/filter"
        />
        <Field label="Or a selector" value={selector} onInput={setSelector} placeholder='{"city": "Oslo"}' />
      </Form>
    </details>
  );
}

interface ChangesState {
  rows: Change[];
  count: number;
  error: unknown;
  isLive: boolean;
  restart: () => void;
}

function useChanges(db: string, { filter, selector }: ChangesFilter, isPaused: boolean): ChangesState {
  const [state, setState] = useState<{ rows: Change[]; count: number }>({ rows: [], count: 0 });
  const [status, setStatus] = useState<{ error?: unknown; isLive: boolean }>({ isLive: false });
  const [round, setRound] = useState(0);
  const since = useRef<string>(undefined);
  useEffect(() => {
    since.current = undefined;
    setState({ rows: [], count: 0 });
  }, [db, filter, selector]);
  useEffect(() => {
    if (isPaused) return;
    const stop = new AbortController();
    let fresh: Change[] = [];
    const draw = (): void => {
      if (fresh.length === 0) return;
      const added = fresh;
      fresh = [];
      setState(({ rows, count }) => ({
        rows: [...added.toReversed(), ...rows].slice(0, rowsKept),
        count: count + added.length,
      }));
    };
    const timer = setInterval(draw, drawMs);
    const follow = async (): Promise<void> => {
      const restriction = { filter, selector };
      if (since.current === undefined) {
        const rows = await latestChanges(db, restriction, 50, stop.signal);
        since.current = rows[0]?.seq ?? 'now';
        setState({ rows, count: 0 });
      }
      setStatus({ isLive: true });
      for await (const change of followChanges(db, restriction, since.current, stop.signal)) {
        since.current = change.seq;
        fresh.push(change);
      }
    };
    follow().then(
      () => !stop.signal.aborted && setRound((before) => before + 1),
      (error: unknown) => !stop.signal.aborted && setStatus({ error, isLive: false }),
    );
    return () => {
      stop.abort();
      clearInterval(timer);
      draw();
      setStatus({ isLive: false });
    };
  }, [db, filter, selector, isPaused, round]);
  return { ...state, ...status, error: status.error, restart: () => setRound(round + 1) };
}
