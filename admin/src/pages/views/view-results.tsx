import { useState } from 'preact/hooks';
import { get } from '../../api/http.js';
import { queryView, viewInfo, type ViewAnswer } from '../../api/views.js';
import { formatBytes, formatCount, plural } from '../../lib/format.js';
import { setQuery } from '../../lib/router.js';
import { useInterval, useLoad } from '../../lib/use-load.js';
import { Field, Form, Select } from '../../ui/form.js';
import { Await, Progress, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { DocLink, Value } from '../doc-table.js';

const pageSize = 50;
const progressMs = 1000;

interface Props {
  db: string;
  ddoc: string;
  view: string;
  query: URLSearchParams;
}

export function ViewResults({ db, ddoc, view, query }: Props) {
  const options = Object.fromEntries(
    ['key', 'startkey', 'endkey', 'group_level', 'descending', 'skip'].map((name) => [
      name,
      query.get(name) ?? '',
    ]),
  ) as Record<'key' | 'startkey' | 'endkey' | 'group_level' | 'descending' | 'skip', string>;
  const level = options.group_level;
  const sent = {
    key: options.key || undefined,
    startkey: options.startkey || undefined,
    endkey: options.endkey || undefined,
    descending: options.descending || undefined,
    skip: options.skip || undefined,
    limit: pageSize,
    ...(level === ''
      ? { reduce: false }
      : level === 'exact'
        ? { group: true }
        : { group_level: Number(level) }),
  };
  const state = useLoad(
    (signal) => queryView(db, ddoc, view, sent, signal),
    [db, ddoc, view, JSON.stringify(sent)],
  );
  const skip = Number(options.skip || 0);
  const page = (next: number): void => setQuery({ skip: next > 0 ? String(next) : undefined });
  return (
    <Section title="Rows" actions={<IndexState db={db} ddoc={ddoc} isWaiting={state.isLoading} />}>
      <QueryForm options={options} onQuery={state.reload} />
      <Await state={state}>{(answer) => <Rows db={db} answer={answer} />}</Await>
      <div class="row">
        <button type="button" disabled={skip === 0} onClick={() => page(skip - pageSize)}>
          Previous page
        </button>
        <button
          type="button"
          disabled={(state.data?.rows.length ?? 0) < pageSize}
          onClick={() => page(skip + pageSize)}
        >
          Next page
        </button>
        <span class="quiet">
          {state.data?.total_rows !== undefined && `${plural(state.data.total_rows, 'row')} in the view`}
        </span>
      </div>
    </Section>
  );
}

function QueryForm({ options, onQuery }: { options: Record<string, string>; onQuery: () => void }) {
  const [values, setValues] = useState(options);
  const set = (name: string) => (value: string) => setValues({ ...values, [name]: value });
  const submit = (): Promise<void> => {
    for (const name of ['key', 'startkey', 'endkey']) checkJson(name, values[name]!);
    setQuery({
      ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value || undefined])),
      skip: undefined,
    });
    onQuery();
    return Promise.resolve();
  };
  return (
    <Form onSubmit={submit} submit="Query">
      <div class="columns tight">
        <Field label="Key" value={values['key']!} onInput={set('key')} placeholder='"text" or ["a", 1]' />
        <Field
          label="From key"
          value={values['startkey']!}
          onInput={set('startkey')}
          placeholder='["Oslo"]'
        />
        <Field label="To key" value={values['endkey']!} onInput={set('endkey')} placeholder='["Oslo", {}]' />
        <Select
          label="Reduce"
          value={values['group_level']!}
          options={[
            ['', 'Rows as they are'],
            ['0', 'One value for all'],
            ['1', 'By the first part of the key'],
            ['2', 'By two parts of the key'],
            ['exact', 'By the whole key'],
          ]}
          onChange={set('group_level')}
        />
        <Select
          label="Order"
          value={values['descending']!}
          options={[
            ['', 'Ascending'],
            ['true', 'Descending'],
          ]}
          onChange={set('descending')}
        />
      </div>
    </Form>
  );
}

function checkJson(name: string, text: string): void {
  if (text === '') return;
  try {
    JSON.parse(text);
  } catch {
    throw new Error(`${name} has to be JSON; texts stand in double quotes.`);
  }
}

function Rows({ db, answer }: { db: string; answer: ViewAnswer }) {
  return (
    <Table
      label="Rows of the view"
      rows={answer.rows.map((row, at) => ({ ...row, at: `${at}` }))}
      keyOf={({ at }) => at}
      empty="No rows."
      columns={[
        { title: 'Key', cell: ({ key }) => <Value value={key} /> },
        { title: 'Value', cell: ({ value }) => <Value value={value} /> },
        { title: 'Document', isMinor: true, cell: ({ id }) => <DocLink db={db} id={id} /> },
      ]}
    />
  );
}

interface IndexTask {
  type: string;
  database: string;
  design_document: string;
  progress: number;
}

/** How far the index is, while a query waits for it. */
function IndexState({ db, ddoc, isWaiting }: { db: string; ddoc: string; isWaiting: boolean }) {
  const info = useLoad((signal) => viewInfo(db, ddoc, signal), [db, ddoc, isWaiting]);
  const tasks = useLoad(
    async (signal) =>
      isWaiting ? await get<IndexTask[]>(['_active_tasks'], undefined, signal).catch(() => []) : [],
    [isWaiting],
  );
  useInterval(() => isWaiting && tasks.reload(), progressMs);
  const running = (tasks.data ?? []).filter(
    ({ type, database, design_document: name }) =>
      type === 'indexer' && database.includes(db) && name === `_design/${ddoc}`,
  );
  if (running.length > 0) {
    const progress = running.reduce((total, task) => total + task.progress, 0) / running.length;
    return <Progress label="Index" done={progress} total={100} />;
  }
  const index = info.data?.view_index;
  if (index === undefined) return null;
  return (
    <span class="quiet">
      Index: {formatBytes(index.sizes.file)}, {formatCount(index.updates_pending.total)} changes behind
    </span>
  );
}
