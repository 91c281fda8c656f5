import { useEffect, useRef, useState } from 'preact/hooks';
import { exportDocuments } from '../../api/transfer.js';
import { openSink } from '../../lib/file-sink.js';
import { plural } from '../../lib/format.js';
import { Dialog } from '../../ui/dialog.js';
import { Checkbox, Form } from '../../ui/form.js';
import { Progress } from '../../ui/page.js';

export function ExportDialog({ db, total, onClose }: { db: string; total: number; onClose: () => void }) {
  const [withAttachments, setWithAttachments] = useState(false);
  const [done, setDone] = useState<number>();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const save = async (): Promise<void> => {
    const sink = await openSink(`${db.replaceAll('/', '-')}.jsonl`);
    setDone(0);
    await exportDocuments(db, withAttachments, (text) => sink.write(text), setDone, stop.current.signal);
    await sink.close();
  };
  return (
    <Dialog title="Export documents" onClose={onClose}>
      <Form onSubmit={save} submit="Export" onCancel={onClose}>
        <p>
          One document a line, design documents too: {plural(total, 'document')}. The file can be imported
          here, and read by anything that reads JSON lines.
        </p>
        <Checkbox label="With attachments" isChecked={withAttachments} onChange={setWithAttachments} />
        {done !== undefined && (
          <div role="status">
            <Progress label="Export" done={done} total={total} />
            <p>{plural(done, 'document')} written.</p>
          </div>
        )}
      </Form>
    </Dialog>
  );
}
