import type { DocPages, DocRow } from '../../api/doc-pages.js';
import { link } from '../../lib/router.js';
import type { Column } from '../../ui/table.js';
import { Text, visible } from '../../ui/text.js';

const columnsShown = 4;

interface Options {
  db: string;
  mode: 'table' | 'json';
  /** Fields that were asked for, separated by commas. */
  chosen: string | null;
  pages: DocPages;
  selected: ReadonlyMap<string, DocRow>;
  onSelect: (row: DocRow) => void;
}

export function columnsOf({
  db,
  mode,
  chosen,
  pages,
  selected,
  onSelect,
}: Options): Column<DocRow | undefined>[] {
  const check: Column<DocRow | undefined> = {
    title: ' ',
    width: '24px',
    cell: (row) =>
      row && (
        <input
          type="checkbox"
          aria-label={`Select ${visible(row.id.slice(0, 80))}`}
          checked={selected.has(row.id)}
          onChange={() => onSelect(row)}
        />
      ),
  };
  const id: Column<DocRow | undefined> = {
    title: 'Id',
    width: mode === 'json' ? '1fr' : '1.4fr',
    cell: (row) => (row ? <DocLink db={db} id={row.id} /> : <span class="quiet">…</span>),
  };
  if (mode === 'json') return [check, id, { title: 'Document', width: '3fr', cell: jsonCell }];
  const fields = chosen ? chosen.split(',') : commonFields(pages.loaded);
  return [check, id, ...fields.map(fieldColumn)];
}

function DocLink({ db, id }: { db: string; id: string }) {
  return (
    <a href={link(['db', db, 'doc', id])}>
      <Text value={id} max={120} />
    </a>
  );
}

function jsonCell(row: DocRow | undefined) {
  if (!row) return null;
  if (row.json === undefined) return <span class="quiet">too large to show in a list</span>;
  return <pre>{visible(row.json)}</pre>;
}

function fieldColumn(name: string, at: number): Column<DocRow | undefined> {
  return {
    title: visible(name),
    isMinor: at > 0,
    cell: (row) => {
      const text = row?.fields?.get(name);
      if (text === undefined) return row && <span class="quiet">{row.fields ? '–' : 'large'}</span>;
      return <Text value={text} max={120} />;
    },
  };
}

/** The members that most documents in sight have. */
export function commonFields(rows: readonly DocRow[], max = columnsShown): string[] {
  const counts = new Map<string, number>();
  for (const { fields } of rows) {
    for (const name of fields?.keys() ?? []) {
      if (!name.startsWith('_')) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort((one, other) => other[1] - one[1])
    .slice(0, max)
    .map(([name]) => name);
}
