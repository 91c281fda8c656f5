import { useState } from 'preact/hooks';
import { deleteDocuments, readDocument, saveDocument } from '../../api/documents.js';
import { formatJson, jsonProblem, withMembers } from '../../lib/json-text.js';
import { plural } from '../../lib/format.js';
import { useLoad } from '../../lib/use-load.js';
import { ActionButton } from '../../ui/action-button.js';
import { Comparison } from '../../ui/comparison.js';
import { Editor } from '../../ui/editor.js';
import { Select } from '../../ui/form.js';
import { Await, Section } from '../../ui/page.js';
import { notify } from '../../ui/toast.js';
import type { LoadedDocument } from './document-page.js';

interface Props {
  db: string;
  id: string;
  doc: LoadedDocument;
  onSaved: () => void;
}

/** Shows both sides of a conflict and ends it: one text is saved, the other revisions are deleted. */
export function ConflictsTab({ db, id, doc, onSaved }: Props) {
  const [other, setOther] = useState(doc.conflicts[0]);
  const [merged, setMerged] = useState(doc.text);
  const state = useLoad(
    async (signal) => (other === undefined ? '' : formatJson(await readDocument(db, id, other, signal))),
    [db, id, other],
  );
  if (other === undefined) return <p class="empty">This document has no conflicts.</p>;
  const resolve = async (): Promise<void> => {
    const problem = jsonProblem(merged);
    if (problem !== undefined) throw new Error(problem);
    await saveDocument(db, id, withMembers(merged, { _rev: JSON.stringify(doc.rev) }));
    const results = await deleteDocuments(
      db,
      doc.conflicts.map((rev) => ({ id, rev })),
    );
    const failure = results.find(({ error }) => error !== undefined);
    if (failure) throw new Error(`The text is saved, but ${failure.error}: ${failure.reason}`);
    notify('The conflict is resolved.');
    onSaved();
  };
  return (
    <>
      <Section
        title="The two sides"
        actions={
          <Select
            isInline
            label="Compare the winner with"
            value={other}
            options={doc.conflicts.map((rev) => [rev, rev.slice(0, 16)])}
            onChange={setOther}
          />
        }
      >
        <p class="quiet">
          Left: the winner, {doc.rev}. Right: {other}.
        </p>
        <Await state={state}>
          {(text) => (
            <>
              <Comparison left={doc.text} right={text} />
              <div class="row">
                <button type="button" onClick={() => setMerged(doc.text)}>
                  Take the left side
                </button>
                <button type="button" onClick={() => setMerged(text)}>
                  Take the right side
                </button>
              </div>
            </>
          )}
        </Await>
      </Section>
      <Section title="The result">
        <Editor
          label="Result as JSON"
          language="json"
          value={merged}
          original={doc.text}
          onChange={setMerged}
        />
        <div class="row">
          <ActionButton class="primary" onAction={resolve}>
            Save, and delete {plural(doc.conflicts.length, 'other revision')}
          </ActionButton>
        </div>
      </Section>
    </>
  );
}
