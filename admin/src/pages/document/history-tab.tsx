import { useState } from 'preact/hooks';
import { readDocument } from '../../api/documents.js';
import { formatJson } from '../../lib/json-text.js';
import { useLoad } from '../../lib/use-load.js';
import { Comparison } from '../../ui/comparison.js';
import { Await, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import type { LoadedDocument } from './document-page.js';

const words: Record<string, string> = {
  available: 'stored',
  missing: 'removed by compaction',
  deleted: 'deleted',
};

export function HistoryTab({ db, id, doc }: { db: string; id: string; doc: LoadedDocument }) {
  const [shown, setShown] = useState<string>();
  return (
    <>
      <Table
        label="Revisions"
        rows={doc.history}
        keyOf={({ rev }) => rev}
        columns={[
          { title: 'Revision', cell: ({ rev }) => <code>{rev}</code> },
          { title: 'State', cell: ({ status }) => words[status] ?? status },
          {
            title: 'Compare',
            cell: ({ rev, status }) =>
              rev === doc.rev ? (
                <span class="quiet">current</span>
              ) : (
                <button
                  type="button"
                  class="small"
                  disabled={status !== 'available'}
                  aria-label={`Compare ${rev} with the current revision`}
                  onClick={() => setShown(rev)}
                >
                  Compare
                </button>
              ),
          },
        ]}
      />
      {shown !== undefined && <Older db={db} id={id} rev={shown} current={doc.text} />}
    </>
  );
}

function Older({ db, id, rev, current }: { db: string; id: string; rev: string; current: string }) {
  const state = useLoad(async (signal) => formatJson(await readDocument(db, id, rev, signal)), [db, id, rev]);
  return (
    <Section title={`${rev.slice(0, 16)} and the current revision`}>
      <Await state={state}>{(text) => <Comparison left={text} right={current} />}</Await>
    </Section>
  );
}
