import type { DocRow } from '../../api/doc-pages.js';
import { deleteDocuments } from '../../api/documents.js';
import { plural } from '../../lib/format.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Text } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';

interface Props {
  db: string;
  docs: readonly DocRow[];
  onDone: () => void;
  onClose: () => void;
}

const namesShown = 5;

export function DeleteSelected({ db, docs, onDone, onClose }: Props) {
  const remove = async (): Promise<void> => {
    const results = await deleteDocuments(db, docs);
    const failures = results.filter(({ error }) => error !== undefined);
    onDone();
    if (failures.length === 0) return notify(`${plural(docs.length, 'document')} deleted.`);
    const [{ id, error, reason } = { id: '', error: '', reason: '' }] = failures;
    throw new Error(`${failures.length} of ${docs.length} were not deleted. ${id}: ${error}, ${reason}`);
  };
  return (
    <ConfirmDialog
      title={`Delete ${plural(docs.length, 'document')}?`}
      submit="Delete"
      onConfirm={remove}
      onClose={onClose}
    >
      <ul>
        {docs.slice(0, namesShown).map(({ id }) => (
          <li key={id}>
            <Text value={id} max={80} />
          </li>
        ))}
        {docs.length > namesShown && <li>and {docs.length - namesShown} more</li>}
      </ul>
    </ConfirmDialog>
  );
}
