import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { deleteDocument, readDocument, saveDocument } from '../../api/documents.js';
import { ApiError } from '../../api/http.js';
import { formatJson, jsonProblem, membersOf, withMembers } from '../../lib/json-text.js';
import { link, navigate } from '../../lib/router.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Editor } from '../../ui/editor.js';
import { ErrorBox } from '../../ui/error-box.js';
import { useAction } from '../../ui/form.js';
import { notify } from '../../ui/toast.js';
import type { LoadedDocument } from './document-page.js';
import { useDraft } from './use-draft.js';

interface Props {
  db: string;
  id: string | undefined;
  doc: LoadedDocument;
  onSaved: () => void;
}

export function EditTab({ db, id, doc, onSaved }: Props) {
  const { text, setText, isRestored, clear } = useDraft(`${db}/${id ?? ''}`, doc);
  const [original, setOriginal] = useState<string>();
  const [isDeleting, setIsDeleting] = useState(false);
  const problem = jsonProblem(text);
  const isChanged = text !== doc.text;
  const saving = useAction(async () => {
    if (problem !== undefined) throw new Error(problem);
    const target = JSON.parse(membersOf(text).get('_id') ?? 'null') as string | null;
    const saved = await saveDocument(db, id ?? target ?? undefined, text);
    clear();
    notify('Saved.');
    if (saved.id !== id) navigate(['db', db, 'doc', saved.id]);
    else onSaved();
  });
  const isConflict =
    saving.error instanceof ApiError && saving.error.error === 'conflict' && id !== undefined;
  const takeNewest = async (): Promise<void> => {
    const newest = formatJson(await readDocument(db, id!));
    setOriginal(newest);
    setText(formatJson(withMembers(text, { _rev: membersOf(newest).get('_rev') })));
  };
  const save = (): void => void saving.run();
  useSaveKey(save);
  return (
    <>
      <div class="toolbar">
        <button
          type="button"
          class="primary"
          disabled={saving.isBusy || problem !== undefined}
          onClick={save}
        >
          {id === undefined ? 'Create' : 'Save'} <kbd>Ctrl S</kbd>
        </button>
        <button type="button" disabled={problem !== undefined} onClick={() => setText(formatJson(text))}>
          Format
        </button>
        {id !== undefined && (
          <>
            <button
              type="button"
              aria-pressed={original !== undefined}
              onClick={() => setOriginal(original === undefined ? doc.text : undefined)}
            >
              {original === undefined ? 'Show changes' : 'Hide changes'}
            </button>
            <a class="button" href={link(['db', db, 'new'], { copy: id })}>
              Duplicate
            </a>
            <button type="button" class="danger-text" onClick={() => setIsDeleting(true)}>
              Delete
            </button>
          </>
        )}
        <span class="quiet" role="status">
          {problem !== undefined ? 'Not valid JSON' : isChanged ? 'Not saved' : ''}
        </span>
      </div>
      {isRestored && (
        <p class="note row">
          <span class="grow">These are changes that were not saved.</span>
          <button type="button" class="small" onClick={clear}>
            Discard them
          </button>
        </p>
      )}
      <ErrorBox error={saving.error} />
      {isConflict && (
        <p>
          <button type="button" onClick={() => void takeNewest()}>
            Compare with the newest revision and go on from it
          </button>
        </p>
      )}
      <Editor
        class="tall"
        label="Document as JSON"
        language="json"
        value={text}
        original={original}
        onChange={setText}
        onSubmit={save}
      />
      {isDeleting && (
        <ConfirmDialog
          title="Delete this document?"
          submit="Delete"
          onConfirm={async () => {
            await deleteDocument(db, id!, doc.rev!);
            clear();
            notify('Deleted.');
            navigate(['db', db]);
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>Its winning revision is deleted. If the document has conflicts, another revision wins then.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function useSaveKey(save: () => void): void {
  const latest = useRef(save);
  latest.current = save;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
