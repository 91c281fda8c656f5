import { useId, useState } from 'preact/hooks';
import { attachmentAddress, deleteAttachment, putAttachment, type Attachment } from '../../api/documents.js';
import { formatBytes } from '../../lib/format.js';
import { ActionButton } from '../../ui/action-button.js';
import { ErrorBox } from '../../ui/error-box.js';
import { Progress } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Text, visible } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';
import type { LoadedDocument } from './document-page.js';

interface Props {
  db: string;
  id: string;
  doc: LoadedDocument;
  onChanged: () => void;
}

const previewBytesMax = 10_000_000;

type Row = Attachment & { name: string };

export function AttachmentsTab({ db, id, doc, onChanged }: Props) {
  const rows: Row[] = Object.entries(doc.attachments).map(([name, attachment]) => ({ name, ...attachment }));
  const rev = doc.rev!;
  const remove = async (name: string): Promise<void> => {
    await deleteAttachment(db, id, name, rev);
    notify('Attachment deleted.');
    onChanged();
  };
  return (
    <>
      <Upload db={db} id={id} rev={rev} onChanged={onChanged} />
      <Table
        label="Attachments"
        rows={rows}
        keyOf={({ name }) => name}
        empty="No attachments."
        columns={[
          {
            title: 'Preview',
            cell: (row) => <Preview row={row} href={attachmentAddress(db, id, row.name, rev)} />,
          },
          {
            title: 'Name',
            cell: ({ name }) => (
              <a href={attachmentAddress(db, id, name, rev)} target="_blank" rel="noreferrer">
                <Text value={name} />
              </a>
            ),
          },
          { title: 'Type', isMinor: true, cell: (row) => <Text value={row.content_type} max={60} /> },
          { title: 'Size', isNumber: true, cell: ({ length }) => formatBytes(length) },
          {
            title: 'Action',
            cell: ({ name }) => (
              <ActionButton
                class="small danger-text"
                title={`Delete ${visible(name)}`}
                onAction={() => remove(name)}
              >
                Delete
              </ActionButton>
            ),
          },
        ]}
      />
    </>
  );
}

function Preview({ row, href }: { row: Row; href: string }) {
  const isPicture = row.content_type.startsWith('image/') && row.length <= previewBytesMax;
  if (!isPicture) return <span class="quiet">–</span>;
  return <img class="thumbnail" src={href} alt={`Preview of ${visible(row.name)}`} loading="lazy" />;
}

interface UploadProps {
  db: string;
  id: string;
  rev: string;
  onChanged: () => void;
}

function Upload({ db, id, rev, onChanged }: UploadProps) {
  const inputId = useId();
  const [isOver, setIsOver] = useState(false);
  const [current, setCurrent] = useState<{ name: string; share: number }>();
  const [error, setError] = useState<unknown>();
  const send = async (files: readonly File[]): Promise<void> => {
    setError(undefined);
    try {
      // Each attachment makes a revision that the next one follows.
      let latest = rev;
      for (const file of files) {
        const onProgress = (share: number): void => setCurrent({ name: file.name, share });
        onProgress(0);
        latest = (await putAttachment(db, id, file, latest, onProgress)).rev!;
      }
    } catch (problem) {
      setError(problem);
    }
    setCurrent(undefined);
    onChanged();
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setIsOver(false);
    void send([...(event.dataTransfer?.files ?? [])]);
  };
  const allow = (event: DragEvent): void => {
    event.preventDefault();
    setIsOver(true);
  };
  return (
    <>
      <div
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={allow}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
      >
        <label for={inputId}>Drop files here, or choose them:</label>{' '}
        <input
          id={inputId}
          type="file"
          multiple
          onChange={(event) => void send([...(event.currentTarget.files ?? [])])}
        />
        {current && (
          <div>
            <Text value={current.name} max={60} />
            <Progress label={`Upload of ${visible(current.name)}`} done={current.share} total={1} />
          </div>
        )}
      </div>
      <ErrorBox error={error} />
    </>
  );
}
