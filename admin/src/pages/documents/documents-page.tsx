import { useCallback, useEffect, useMemo, useReducer, useState } from 'preact/hooks';
import { DocPages, type DocRow } from '../../api/doc-pages.js';
import { plural } from '../../lib/format.js';
import { link, navigate, setQuery } from '../../lib/router.js';
import { ErrorBox } from '../../ui/error-box.js';
import { Loading, Page } from '../../ui/page.js';
import { VirtualTable } from '../../ui/virtual-table.js';
import { DatabaseHeading, DatabaseTabs } from '../database-head.js';
import { columnsOf } from './columns.js';
import { DeleteSelected } from './delete-selected.js';
import { DocumentsToolbar } from './documents-toolbar.js';
import { ExportDialog } from './export-dialog.js';
import { ImportDialog } from './import-dialog.js';

const rowHeights = { table: 36, json: 168 };

export function DocumentsPage({ db, query }: { db: string; query: URLSearchParams }) {
  const mode = query.get('as') === 'json' ? 'json' : 'table';
  const { pages, reload } = useDocPages(db);
  const [active, setActive] = useState(-1);
  const [selected, setSelected] = useState<ReadonlyMap<string, DocRow>>(new Map());
  const jumpTo = query.get('id');
  useEffect(() => {
    if (jumpTo) pages.positionOf(jumpTo).then(setActive, () => undefined);
  }, [jumpTo, pages]);
  const select = useCallback((row: DocRow) => {
    setSelected((before) => {
      const next = new Map(before);
      if (!next.delete(row.id)) next.set(row.id, row);
      return next;
    });
  }, []);
  const chosen = query.get('columns');
  const columns = useMemo(
    () => columnsOf({ db, mode, chosen, pages, selected, onSelect: select }),
    [db, mode, chosen, selected, pages.isFirstLoaded],
  );
  const onRange = useCallback((first: number, last: number) => pages.load(first, last), [pages]);
  const done = (): void => {
    setSelected(new Map());
    reload();
  };
  const dialog = query.get('dialog');
  const closeDialog = (): void => setQuery({ dialog: undefined });
  return (
    <Page
      title={db}
      heading={<DatabaseHeading db={db} />}
      actions={
        <a class="button primary" href={link(['db', db, 'new'])}>
          New document
        </a>
      }
    >
      <DatabaseTabs db={db} current="documents" />
      <DocumentsToolbar
        mode={mode}
        query={query}
        fields={pages.loaded}
        selectedCount={selected.size}
        onReload={reload}
      />
      <ErrorBox error={pages.error} onRetry={reload} />
      {!pages.isFirstLoaded && !pages.error && <Loading />}
      {pages.isFirstLoaded && pages.total === 0 && (
        <p class="empty">
          No documents yet. <a href={link(['db', db, 'new'])}>Create the first one</a> or import a file.
        </p>
      )}
      {pages.total > 0 && (
        <>
          <VirtualTable
            key={mode}
            label="Documents"
            columns={columns}
            count={pages.total}
            rowAt={(index) => pages.rowAt(index)}
            rowHeight={rowHeights[mode]}
            onRange={onRange}
            active={active}
            onActive={setActive}
            onOpen={(index) => open(db, pages.rowAt(index))}
            onSelect={(index) => {
              const row = pages.rowAt(index);
              if (row) select(row);
            }}
          />
          <p class="quiet" role="status">
            {plural(pages.total, 'document')}
            {selected.size > 0 && `, ${selected.size} selected`}
          </p>
        </>
      )}
      {dialog === 'delete' && (
        <DeleteSelected db={db} docs={[...selected.values()]} onDone={done} onClose={closeDialog} />
      )}
      {dialog === 'import' && <ImportDialog db={db} onDone={reload} onClose={closeDialog} />}
      {dialog === 'export' && <ExportDialog db={db} total={pages.total} onClose={closeDialog} />}
    </Page>
  );
}

function open(db: string, row: DocRow | undefined): void {
  if (row) navigate(['db', db, 'doc', row.id]);
}

function useDocPages(db: string): { pages: DocPages; reload: () => void } {
  const [, redraw] = useReducer((round: number) => round + 1, 0);
  const [round, reload] = useReducer((before: number) => before + 1, 0);
  const pages = useMemo(() => new DocPages(db, () => redraw(undefined)), [db, round]);
  useEffect(() => {
    pages.load(0, 0);
    return () => pages.close();
  }, [pages]);
  return { pages, reload: () => reload(undefined) };
}
