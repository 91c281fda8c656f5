import { useEffect, useRef } from 'preact/hooks';
import { get } from '../api/http.js';
import { formatCount, formatDuration } from '../lib/format.js';
import { useHistory } from '../lib/history.js';
import { useInterval, useLoad } from '../lib/use-load.js';
import { Chart } from '../ui/chart.js';
import { Await, Page, Progress } from '../ui/page.js';
import { Table } from '../ui/table.js';
import { Text } from '../ui/text.js';

interface Task {
  type: string;
  pid: string;
  database?: string;
  design_document?: string;
  source?: string;
  target?: string;
  progress?: number;
  changes_done?: number;
  total_changes?: number;
  changes_pending?: number;
  docs_written?: number;
  started_on: number;
}

const refreshMs = 1000;

const kinds: Record<string, string> = {
  indexer: 'Filling an index',
  database_compaction: 'Compacting a database',
  view_compaction: 'Compacting an index',
  replication: 'Replication',
  search_indexer: 'Filling a search index',
  shard_splitting: 'Splitting a shard',
};

export function TasksPage() {
  const state = useLoad((signal) => get<Task[]>(['_active_tasks'], undefined, signal), []);
  const running = useHistory(1);
  const work = useHistory(1);
  const before = useRef<{ done: number; at: number }>(undefined);
  useInterval(state.reload, refreshMs);
  useEffect(() => {
    if (!state.data) return;
    const done = state.data.reduce((total, task) => total + (task.changes_done ?? task.docs_written ?? 0), 0);
    const at = Date.now();
    const last = before.current;
    before.current = { done, at };
    running.add([state.data.length]);
    if (last) work.add([Math.max(((done - last.done) * 1000) / Math.max(at - last.at, 1), 0)]);
  }, [state.data]);
  return (
    <Page title="Tasks">
      <Await state={state}>
        {(tasks) => (
          <Table
            label="Tasks"
            rows={tasks}
            keyOf={({ type, pid, database }) => `${type}/${pid}/${database}`}
            empty="Nothing is under way. Compactions, indexes and replications are shown here."
            columns={[
              { title: 'What', cell: ({ type }) => kinds[type] ?? type },
              { title: 'Where', cell: (task) => <Text value={placeOf(task)} max={120} /> },
              { title: 'Progress', cell: (task) => <TaskProgress task={task} /> },
              {
                title: 'For',
                isNumber: true,
                isMinor: true,
                cell: (task) => formatDuration(Date.now() / 1000 - task.started_on),
              },
            ]}
          />
        )}
      </Await>
      <div class="columns">
        <Chart
          label="Tasks under way"
          series={[{ label: 'now', color: '--chart-1' }]}
          data={running.data}
          format={(value) => formatCount(Math.round(value))}
        />
        <Chart
          label="Changes worked on"
          series={[{ label: 'a second', color: '--chart-2' }]}
          data={work.data}
          format={(value) => formatCount(Math.round(value))}
        />
      </div>
    </Page>
  );
}

function placeOf({ database = '', design_document: ddoc, source, target }: Task): string {
  if (source !== undefined) return `${source} to ${target}`;
  return ddoc === undefined ? database : `${database}, ${ddoc}`;
}

function TaskProgress({ task }: { task: Task }) {
  const {
    progress,
    changes_done: done = 0,
    total_changes: total,
    docs_written: written = 0,
    changes_pending: pending,
  } = task;
  if (progress !== undefined) return <Progress label="Progress" done={progress} total={100} />;
  if (total !== undefined) return <Progress label="Progress" done={done} total={total} />;
  return (
    <span>
      {formatCount(written)} written, {formatCount(pending ?? 0)} to go
    </span>
  );
}
