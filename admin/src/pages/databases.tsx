import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { databaseInfos, databaseNames, infosMax, type DatabaseInfo } from '../api/databases.js';
import { formatBytes, formatCount, plural } from '../lib/format.js';
import { link, navigate, setQuery } from '../lib/router.js';
import { useIsAdmin } from '../lib/session-context.js';
import { useInterval } from '../lib/use-load.js';
import { ErrorBox } from '../ui/error-box.js';
import { Loading, Page } from '../ui/page.js';
import type { Column } from '../ui/table.js';
import { Text } from '../ui/text.js';
import { VirtualTable } from '../ui/virtual-table.js';
import { CreateDatabase } from './create-database.js';
import { OpenDatabase } from './open-database.js';
import { SetupNotice } from './setup-notice.js';

const refreshMs = 4000;
/** Above this, the list of names is read again only when it is asked for. */
const namesRefreshedMax = 5000;

interface Row {
  name: string;
  info: DatabaseInfo | undefined;
}

const columns: Column<Row | undefined>[] = [
  { title: 'Name', width: '3fr', cell: (row) => row && <DatabaseLink name={row.name} /> },
  { title: 'Documents', isNumber: true, cell: (row) => row?.info && formatCount(row.info.doc_count) },
  {
    title: 'Deleted',
    isNumber: true,
    isMinor: true,
    cell: (row) => row?.info && formatCount(row.info.doc_del_count),
  },
  { title: 'Size', isNumber: true, cell: (row) => row?.info && formatBytes(row.info.sizes.active) },
  {
    title: 'On disk',
    isNumber: true,
    isMinor: true,
    cell: (row) => row?.info && formatBytes(row.info.sizes.file),
  },
  { title: 'Notes', isMinor: true, cell: (row) => row?.info && <Notes info={row.info} /> },
];

function DatabaseLink({ name }: { name: string }) {
  return (
    <a href={link(['db', name])}>
      <Text value={name} />
    </a>
  );
}

function Notes({ info }: { info: DatabaseInfo }) {
  return (
    <>
      {info.props.partitioned && <span class="badge">partitioned</span>}{' '}
      {info.compact_running && <span class="badge waiting">compacting</span>}
    </>
  );
}

export function DatabasesPage({ query }: { query: URLSearchParams }) {
  const isAdmin = useIsAdmin();
  const { names, error, isComplete, reload } = useNames();
  const wanted = query.get('find') ?? '';
  const found = useMemo(
    () => (wanted === '' ? names : names.filter((name) => name.includes(wanted.toLowerCase()))),
    [names, wanted],
  );
  const [active, setActive] = useState(-1);
  const { infos, setRange } = useInfos(found);
  const rowAt = (index: number): Row | undefined => {
    const name = found[index];
    return name === undefined ? undefined : { name, info: infos.get(name) };
  };
  return (
    <Page
      title="Databases"
      actions={
        isAdmin && (
          <button type="button" class="primary" onClick={() => setQuery({ create: '1' })}>
            Create database
          </button>
        )
      }
    >
      {isAdmin && <SetupNotice onDone={reload} />}
      <ErrorBox error={error} onRetry={reload} />
      {error !== undefined && <OpenDatabase />}
      {error === undefined && (
        <>
          <div class="toolbar">
            <input
              class="search"
              type="search"
              aria-label="Find by name"
              placeholder="Find by name"
              value={wanted}
              onInput={(event) => setQuery({ find: event.currentTarget.value || undefined })}
            />
            <span class="quiet" role="status">
              {plural(found.length, 'database')}
              {isComplete ? '' : ', loading more…'}
            </span>
          </div>
          {names.length === 0 && !isComplete ? (
            <Loading />
          ) : (
            <VirtualTable
              label="Databases"
              columns={columns}
              count={found.length}
              rowAt={rowAt}
              rowHeight={38}
              onRange={setRange}
              active={active}
              onActive={setActive}
              onOpen={(index) => navigate(['db', found[index]!])}
            />
          )}
        </>
      )}
      {query.has('create') && <CreateDatabase onClose={() => setQuery({ create: undefined })} />}
    </Page>
  );
}

function useNames(): { names: string[]; error: unknown; isComplete: boolean; reload: () => void } {
  const [state, setState] = useState<{ names: string[]; error?: unknown; isComplete: boolean }>({
    names: [],
    isComplete: false,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const load = async (): Promise<void> => {
      let names: string[] = [];
      for await (const more of databaseNames(stop.signal)) {
        names = names.concat(more);
        // The list in sight stays whole while it is read again.
        setState((before) =>
          before.isComplete && names.length < before.names.length ? before : { names, isComplete: false },
        );
      }
      setState({ names, isComplete: true });
    };
    load().catch((error: unknown) => {
      if (!stop.signal.aborted) setState((before) => ({ ...before, error, isComplete: true }));
    });
    return () => stop.abort();
  }, [round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useInterval(() => {
    if (state.isComplete && !state.error && state.names.length <= namesRefreshedMax) reload();
  }, refreshMs);
  return { ...state, error: state.error, reload };
}

/** Loads counts and sizes of the databases in sight, and again every few seconds. */
function useInfos(names: string[]): {
  infos: Map<string, DatabaseInfo>;
  setRange: (first: number, last: number) => void;
} {
  const [infos, setInfos] = useState(new Map<string, DatabaseInfo>());
  const [range, setRangeState] = useState<[number, number]>([0, 40]);
  const running = useRef<AbortController>(undefined);
  const load = useCallback(() => {
    const wanted = names.slice(range[0], Math.min(range[1] + 1, range[0] + infosMax));
    running.current?.abort();
    if (wanted.length === 0) return;
    const stop = (running.current = new AbortController());
    databaseInfos(wanted, stop.signal).then(setInfos, () => undefined);
  }, [names, range]);
  useEffect(() => {
    const timer = setTimeout(load, 60);
    return () => clearTimeout(timer);
  }, [load]);
  useInterval(load, refreshMs);
  const setRange = useCallback((first: number, last: number) => setRangeState([first, last]), []);
  return { infos, setRange };
}
