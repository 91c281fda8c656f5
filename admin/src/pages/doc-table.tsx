import { link } from '../lib/router.js';
import { preview } from '../lib/preview.js';
import { Table, type Column } from '../ui/table.js';
import { Text, visible } from '../ui/text.js';

type Doc = Record<string, unknown>;

const columnsMax = 6;
const cellLengthMax = 150;

/** Documents of an answer as a table, with the members that most of them have. */
export function DocTable({ db, docs }: { db: string; docs: readonly Doc[] }) {
  const rows = docs.map((doc, at) => ({ doc, key: `${at}` }));
  const columns: Column<{ doc: Doc }>[] = [];
  if (docs.some((doc) => typeof doc['_id'] === 'string')) {
    columns.push({ title: 'Id', cell: ({ doc }) => <DocLink db={db} id={doc['_id']} /> });
  }
  for (const name of commonMembers(docs)) {
    columns.push({
      title: visible(name.slice(0, 60)),
      isMinor: columns.length > 2,
      cell: ({ doc }) => (name in doc ? <Value value={doc[name]} /> : <span class="quiet">–</span>),
    });
  }
  return (
    <Table
      label="Results"
      rows={rows}
      keyOf={({ key }) => key}
      columns={columns}
      empty="No document matches."
    />
  );
}

export function DocLink({ db, id }: { db: string; id: unknown }) {
  if (typeof id !== 'string') return null;
  return (
    <a href={link(['db', db, 'doc', id])}>
      <Text value={id} max={100} />
    </a>
  );
}

export function Value({ value }: { value: unknown }) {
  const text = typeof value === 'string' ? value : preview(value, cellLengthMax);
  return <Text value={text} max={cellLengthMax} />;
}

function commonMembers(docs: readonly Doc[]): string[] {
  const counts = new Map<string, number>();
  for (const name of docs.flatMap((doc) => Object.keys(doc))) {
    if (name !== '_id' && name !== '_rev') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .sort((one, other) => other[1] - one[1])
    .slice(0, columnsMax)
    .map(([name]) => name);
}
