import { useId, useState } from 'preact/hooks';
import { importFile, type ImportState } from '../../api/transfer.js';
import { plural } from '../../lib/format.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, Form } from '../../ui/form.js';
import { Progress } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Text } from '../../ui/text.js';

interface Props {
  db: string;
  onDone: () => void;
  onClose: () => void;
}

export function ImportDialog({ db, onDone, onClose }: Props) {
  const id = useId();
  const [file, setFile] = useState<File>();
  const [keepRevisions, setKeepRevisions] = useState(false);
  const [state, setState] = useState<ImportState>();
  const load = async (): Promise<void> => {
    if (!file) throw new Error('Choose a file first.');
    try {
      setState(await importFile(db, file, keepRevisions, setState));
    } finally {
      onDone();
    }
  };
  return (
    <Dialog title="Import documents" onClose={onClose}>
      <Form onSubmit={load} submit="Import" onCancel={onClose}>
        <div class="field">
          <label for={id}>File</label>
          <input
            id={id}
            type="file"
            accept=".json,.jsonl,.ndjson,application/json"
            onChange={(event) => setFile(event.currentTarget.files?.[0])}
          />
          <p class="hint">
            A JSON list, one document a line, the body of <code>_bulk_docs</code> or the answer of{' '}
            <code>_all_docs</code>.
          </p>
        </div>
        <Checkbox
          label="Keep the revisions of the file, as replication does"
          isChecked={keepRevisions}
          onChange={setKeepRevisions}
        />
        {state && file && <ImportResult state={state} size={file.size} />}
      </Form>
    </Dialog>
  );
}

function ImportResult({ state, size }: { state: ImportState; size: number }) {
  return (
    <div role="status">
      <Progress label="Import" done={state.bytes} total={size} />
      <p>
        {plural(state.saved, 'document')} saved{state.failed > 0 && `, ${state.failed} refused`}.
      </p>
      {state.failures.length > 0 && (
        <Table
          label="Refused documents"
          rows={state.failures}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Id', cell: ({ id }) => <Text value={id} max={60} /> },
            { title: 'Reason', cell: ({ error, reason }) => <Text value={`${error}: ${reason}`} /> },
          ]}
        />
      )}
    </div>
  );
}
