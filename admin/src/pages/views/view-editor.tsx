import { useState } from 'preact/hooks';
import { sampleDocuments } from '../../api/sample.js';
import { saveView, type ViewSource } from '../../api/views.js';
import { plural } from '../../lib/format.js';
import { navigate } from '../../lib/router.js';
import { useLoad } from '../../lib/use-load.js';
import { ActionButton } from '../../ui/action-button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Editor } from '../../ui/editor.js';
import { Field, Select } from '../../ui/form.js';
import { Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Text } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';
import type { SampleAnswer } from '../../workers/sample-worker.js';
import { useSample } from './use-sample.js';

const builtIn = ['', '_count', '_sum', '_stats', '_approx_count_distinct'];
const ownReduce = 'function (keys, values, rereduce) {\n  return sum(values);\n}';
const sampleSize = 100;

interface Props {
  db: string;
  ddoc: string;
  view: string;
  source: ViewSource;
  onSaved: () => void;
}

export function ViewEditor({ db, ddoc, view, source, onSaved }: Props) {
  const [names, setNames] = useState({ ddoc, view });
  const [map, setMap] = useState(source.map);
  const [reduce, setReduce] = useState(source.reduce ?? '');
  const [isDeleting, setIsDeleting] = useState(false);
  const docs = useLoad((signal) => sampleDocuments(db, sampleSize, signal), [db]);
  const sample = useSample(docs.data, map, reduce);
  const isOwn = !builtIn.includes(reduce);
  const isNew = view === '';
  const save = async (): Promise<void> => {
    if (names.ddoc === '' || names.view === '') throw new Error('Name the design document and the view.');
    await saveView(db, names.ddoc, names.view, { map, ...(reduce === '' ? {} : { reduce }) });
    notify('Saved. The index is filled by the next query.');
    onSaved();
    if (isNew) navigate(['db', db, 'views'], names);
  };
  const remove = async (): Promise<void> => {
    await saveView(db, ddoc, view, undefined);
    navigate(['db', db, 'views']);
    onSaved();
  };
  return (
    <div class="columns">
      <Section title={isNew ? 'New view' : 'Functions'}>
        {isNew && (
          <div class="columns">
            <Field
              label="Design document"
              value={names.ddoc}
              onInput={(value) => setNames({ ...names, ddoc: value })}
            />
            <Field label="View" value={names.view} onInput={(value) => setNames({ ...names, view: value })} />
          </div>
        )}
        <Editor
          class="short"
          label="Map function"
          language="javascript"
          value={map}
          onChange={setMap}
          onSubmit={() => void save()}
        />
        <Select
          label="Reduce"
          value={isOwn ? 'own' : reduce}
          options={[
            ...builtIn.map((name) => [name, name || 'none'] as const),
            ['own', 'a function of your own'],
          ]}
          onChange={(value) => setReduce(value === 'own' ? ownReduce : value)}
        />
        {isOwn && (
          <Editor
            class="short"
            label="Reduce function"
            language="javascript"
            value={reduce}
            onChange={setReduce}
          />
        )}
        <div class="row">
          <ActionButton class="primary" onAction={save}>
            Save view
          </ActionButton>
          {!isNew && (
            <button type="button" class="danger-text" onClick={() => setIsDeleting(true)}>
              Delete view
            </button>
          )}
        </div>
      </Section>
      <Section title="On a sample">
        <SampleResult answer={sample} count={docs.data?.length ?? 0} />
      </Section>
      {isDeleting && (
        <ConfirmDialog
          title="Delete this view?"
          submit="Delete"
          onConfirm={remove}
          onClose={() => setIsDeleting(false)}
        >
          <p>Its index goes too. The documents stay as they are.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

const rowsShown = 8;

function SampleResult({ answer, count }: { answer: SampleAnswer | undefined; count: number }) {
  if (answer === undefined)
    return <p class="quiet">Runs the functions on some documents, without saving them.</p>;
  if (answer.error !== undefined) return <p class="error-box">{answer.error}</p>;
  return (
    <>
      <p class="quiet" role="status">
        {plural(answer.count, 'row')} of {plural(count, 'document')}
        {answer.reduced !== undefined && (
          <>
            , reduced to <Text value={answer.reduced} />
          </>
        )}
      </p>
      <Table
        label="Rows of the sample"
        rows={answer.rows.slice(0, rowsShown).map((row, at) => ({ ...row, at: `${at}` }))}
        keyOf={({ at }) => at}
        empty="The function emitted nothing."
        columns={[
          { title: 'Key', cell: ({ key }) => <Text value={key} max={80} /> },
          { title: 'Value', cell: ({ value }) => <Text value={value} max={80} /> },
          { title: 'Document', isMinor: true, cell: ({ id }) => <Text value={id} max={40} /> },
        ]}
      />
    </>
  );
}
