import { useState } from 'preact/hooks';
import { cancelReplication, jobs, replications, type Job, type Replication } from '../../api/replications.js';
import { formatCount, formatTime, plural } from '../../lib/format.js';
import { link } from '../../lib/router.js';
import { useInterval, useLoad } from '../../lib/use-load.js';
import { ActionButton } from '../../ui/action-button.js';
import { Dialog } from '../../ui/dialog.js';
import { Await, Page, Progress } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Text, visible } from '../../ui/text.js';
import { notify } from '../../ui/toast.js';
import { CreateReplication } from './create-replication.js';

const refreshMs = 2000;

const states: Record<string, [className: string, words: string]> = {
  initializing: ['waiting', 'starting'],
  running: ['good', 'running'],
  pending: ['waiting', 'waiting for its turn'],
  completed: ['good', 'completed'],
  crashing: ['bad', 'failed, tried again later'],
  error: ['bad', 'can’t be started, tried again later'],
  failed: ['bad', 'given up: correct the document'],
};

export function ReplicationPage() {
  const state = useLoad(async (signal) => {
    const [docs, running] = await Promise.all([replications(signal), jobs(signal)]);
    return { docs, histories: new Map(running.map((job) => [job.doc_id ?? '', job.history])) };
  }, []);
  const [isCreating, setIsCreating] = useState(false);
  const [shown, setShown] = useState<string>();
  useInterval(state.reload, refreshMs);
  const cancel = async (id: string): Promise<void> => {
    await cancelReplication(id);
    notify('The replication is cancelled.');
    state.reload();
  };
  return (
    <Page
      title="Replication"
      actions={
        <button type="button" class="primary" onClick={() => setIsCreating(true)}>
          New replication
        </button>
      }
    >
      <Await state={state}>
        {({ docs, histories }) => (
          <>
            <Table
              label="Replications"
              rows={docs}
              keyOf={({ database, doc_id: id }) => `${database}/${id}`}
              empty="No replications. One copies changes from a database to another, here or on another server."
              columns={[
                { title: 'Name', cell: (row) => <Name row={row} /> },
                { title: 'From and to', cell: (row) => <Route row={row} /> },
                { title: 'State', cell: (row) => <State row={row} /> },
                { title: 'Progress', cell: (row) => <Counts row={row} /> },
                {
                  title: 'Action',
                  cell: ({ doc_id: id }) => (
                    <div class="row">
                      <button type="button" class="small" onClick={() => setShown(id)}>
                        History
                      </button>
                      <ActionButton
                        class="small danger-text"
                        title={`Cancel ${visible(id)}`}
                        onAction={() => cancel(id)}
                      >
                        Cancel
                      </ActionButton>
                    </div>
                  ),
                },
              ]}
            />
            {shown !== undefined && (
              <History id={shown} history={histories.get(shown) ?? []} onClose={() => setShown(undefined)} />
            )}
          </>
        )}
      </Await>
      {isCreating && (
        <CreateReplication
          onClose={() => {
            setIsCreating(false);
            state.reload();
          }}
        />
      )}
    </Page>
  );
}

function Name({ row }: { row: Replication }) {
  return (
    <a href={link(['db', row.database, 'doc', row.doc_id])}>
      <Text value={row.doc_id} max={50} />
    </a>
  );
}

function Route({ row }: { row: Replication }) {
  return (
    <>
      <Text value={placeOf(row.source)} max={80} />
      <br />
      <span class="quiet">to </span>
      <Text value={placeOf(row.target)} max={80} />
    </>
  );
}

/** A database of this server by its name, another by its address. */
function placeOf(place: string | null): string {
  const own = new URL('../', document.baseURI).href;
  const text = place ?? 'unknown';
  return text.startsWith(own) ? decodeURIComponent(text.slice(own.length).replace(/\/$/, '')) : text;
}

function State({ row }: { row: Replication }) {
  const [className, words] = states[row.state] ?? ['', row.state];
  return (
    <>
      <span class={`badge ${className}`}>{words}</span>
      {row.error_count > 0 && <p class="quiet">{plural(row.error_count, 'failure')} in a row</p>}
      {row.info?.error && (
        <p>
          <Text value={String(row.info.error)} />
        </p>
      )}
    </>
  );
}

function Counts({ row: { info } }: { row: Replication }) {
  if (!info || typeof info['docs_written'] !== 'number') return <span class="quiet">–</span>;
  const written = info['docs_written'];
  const pending = Number(info['changes_pending'] ?? 0);
  const checked = Number(info['revisions_checked'] ?? written);
  return (
    <>
      <Progress label="Replicated" done={checked} total={checked + pending} />
      <span class="quiet">
        {formatCount(written)} written, {formatCount(pending)} to go
        {Number(info['doc_write_failures']) > 0 &&
          `, ${formatCount(Number(info['doc_write_failures']))} refused`}
      </span>
    </>
  );
}

function History({ id, history, onClose }: { id: string; history: Job['history']; onClose: () => void }) {
  return (
    <Dialog title={`History of ${visible(id)}`} onClose={onClose} isWide>
      <Table
        label="Events"
        rows={history.map((event, at) => ({ ...event, at: `${at}` }))}
        keyOf={({ at }) => at}
        empty="Nothing is remembered: it is done, or has not begun."
        columns={[
          { title: 'When', cell: ({ timestamp }) => formatTime(timestamp) },
          { title: 'What', cell: ({ type }) => type },
          { title: 'Reason', cell: ({ reason }) => reason && <Text value={reason} max={500} /> },
        ]}
      />
    </Dialog>
  );
}
