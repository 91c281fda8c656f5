import { useState } from 'preact/hooks';
import { compactDatabase, databaseInfo, deleteDatabase, type DatabaseInfo } from '../../api/databases.js';
import { cleanUpViews, readRevsLimit, saveRevsLimit } from '../../api/settings.js';
import { formatBytes, formatCount } from '../../lib/format.js';
import { navigate } from '../../lib/router.js';
import { useInterval, useLoad } from '../../lib/use-load.js';
import { ActionButton } from '../../ui/action-button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Field, Form } from '../../ui/form.js';
import { Await, Page, Section } from '../../ui/page.js';
import { Text } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';
import { DatabaseHeading, DatabaseTabs } from '../database-head.js';
import { SecuritySection } from './security-section.js';
import { ShardsSection } from './shards-section.js';

const refreshMs = 3000;

export function SettingsPage({ db }: { db: string }) {
  const info = useLoad((signal) => databaseInfo(db, signal), [db]);
  const [isDeleting, setIsDeleting] = useState(false);
  useInterval(info.reload, refreshMs);
  return (
    <Page
      title={`Settings of ${db}`}
      heading={<DatabaseHeading db={db} />}
      actions={
        <button type="button" class="danger-text" onClick={() => setIsDeleting(true)}>
          Delete database
        </button>
      }
    >
      <DatabaseTabs db={db} current="settings" />
      <Section title="Size" actions={<Maintenance db={db} onDone={info.reload} />}>
        <Await state={info}>{(data) => <Facts info={data} />}</Await>
      </Section>
      <SecuritySection db={db} />
      <ShardsSection db={db} />
      <RevisionLimit db={db} />
      {isDeleting && (
        <ConfirmDialog
          title="Delete this database?"
          submit="Delete database"
          typed={db}
          onConfirm={async () => {
            await deleteDatabase(db);
            notify('The database is deleted.');
            navigate([]);
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            <Text value={db} /> and all its documents are gone then. This can't be taken back.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

function Maintenance({ db, onDone }: { db: string; onDone: () => void }) {
  const run = (action: (db: string) => Promise<unknown>, message: string) => async () => {
    await action(db);
    notify(message);
    onDone();
  };
  return (
    <div class="row">
      <ActionButton class="small" onAction={run(compactDatabase, 'Compaction has begun.')}>
        Compact
      </ActionButton>
      <ActionButton class="small" onAction={run(cleanUpViews, 'Unused indexes are being removed.')}>
        Remove unused indexes
      </ActionButton>
    </div>
  );
}

function Facts({ info }: { info: DatabaseInfo }) {
  const facts: [string, string][] = [
    ['Documents', formatCount(info.doc_count)],
    ['Deleted', formatCount(info.doc_del_count)],
    ['Contents', formatBytes(info.sizes.external)],
    ['Stored', formatBytes(info.sizes.active)],
    ['On disk', formatBytes(info.sizes.file)],
    ['Changes', formatCount(Number(info.update_seq.split('-')[0]))],
    ['Kind', info.props.partitioned ? 'partitioned' : 'plain'],
    ['Compaction', info.compact_running ? 'running' : 'idle'],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function RevisionLimit({ db }: { db: string }) {
  const state = useLoad((signal) => readRevsLimit(db, signal), [db]);
  const [limit, setLimit] = useState<string>();
  return (
    <Section title="Revisions remembered">
      <Await state={state}>
        {(current) => (
          <Form
            submit="Save"
            onSubmit={async () => {
              await saveRevsLimit(db, limit ?? String(current));
              notify('Saved.');
            }}
          >
            <Field
              label="Of each branch of a document's history"
              value={limit ?? String(current)}
              onInput={setLimit}
              inputMode="numeric"
              hint="Fewer make conflicts after long separations more likely."
            />
          </Form>
        )}
      </Await>
    </Section>
  );
}
