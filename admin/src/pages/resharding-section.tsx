import {
  deleteJob,
  isUnderWay,
  partsOfShard,
  readResharding,
  setJobState,
  setResharding,
  type JobState,
  type ReshardJob,
} from '../api/resharding.js';
import { link } from '../lib/router.js';
import { useInterval, useLoad } from '../lib/use-load.js';
import { ActionButton } from '../ui/action-button.js';
import { Await } from '../ui/page.js';
import { Table, type Column } from '../ui/table.js';
import { Text } from '../ui/text.js';

const refreshMs = 2000;

const badges: Record<JobState, string> = {
  new: 'waiting',
  running: 'waiting',
  stopped: '',
  completed: 'good',
  failed: 'bad',
};

/** The jobs that split shards, and whether they may run. */
export function ReshardingSection() {
  const state = useLoad(readResharding, []);
  useInterval(state.reload, refreshMs);
  const then = (work: Promise<unknown>): Promise<void> => work.then(state.reload);
  return (
    <Await state={state}>
      {({ state: global, reason, jobs }) => (
        <>
          <div class="toolbar">
            <span role="status">
              Resharding is {global === 'running' ? 'on' : 'stopped'}
              {reason && <span class="quiet">: {<Text value={reason} max={200} />}</span>}
            </span>
            {global === 'running' ? (
              <ActionButton onAction={() => then(setResharding('stopped'))}>Stop resharding</ActionButton>
            ) : (
              <ActionButton onAction={() => then(setResharding('running'))}>Resume resharding</ActionButton>
            )}
          </div>
          <Table
            label="Resharding jobs"
            rows={jobs}
            keyOf={({ id }) => id}
            empty="No shard was split. A database's settings have its shards."
            columns={columnsFor(then)}
          />
        </>
      )}
    </Await>
  );
}

const columnsFor = (then: (work: Promise<unknown>) => Promise<void>): Column<ReshardJob>[] => [
  { title: 'Database', cell: ({ source }) => <DatabaseOf shard={source} /> },
  { title: 'Range', cell: ({ source }) => <code>{partsOfShard(source).range}</code> },
  { title: 'State', cell: (job) => <StateOf job={job} /> },
  { title: 'Changed', isMinor: true, cell: ({ update_time: at }) => new Date(at).toLocaleString() },
  {
    title: 'Actions',
    cell: (job) => (
      <div class="toolbar">
        {isUnderWay(job) && (
          <ActionButton onAction={() => then(setJobState(job.id, 'stopped'))}>Stop</ActionButton>
        )}
        {job.job_state === 'stopped' && (
          <ActionButton onAction={() => then(setJobState(job.id, 'running'))}>Resume</ActionButton>
        )}
        <ActionButton onAction={() => then(deleteJob(job.id))}>Remove</ActionButton>
      </div>
    ),
  },
];

function DatabaseOf({ shard }: { shard: string }) {
  const { db } = partsOfShard(shard);
  return (
    <a href={link(['db', db, 'settings'])}>
      <Text value={db} max={60} />
    </a>
  );
}

function StateOf({ job: { job_state: state, split_state: step, state_info: info } }: { job: ReshardJob }) {
  return (
    <>
      <span class={`badge ${badges[state]}`}>{state}</span>{' '}
      {state === 'running' && <span class="quiet">{step.replaceAll('_', ' ')}</span>}
      {info.reason && (
        <span class="quiet">
          <Text value={info.reason} max={200} />
        </span>
      )}
    </>
  );
}
