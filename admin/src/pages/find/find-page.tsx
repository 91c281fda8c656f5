import { useMemo, useRef, useState } from 'preact/hooks';
import { explain, find } from '../../api/queries.js';
import { fieldNames, sampleDocuments } from '../../api/sample.js';
import { formatJson, jsonProblem } from '../../lib/json-text.js';
import { navigate, setQuery } from '../../lib/router.js';
import { useLoad } from '../../lib/use-load.js';
import { Editor } from '../../ui/editor.js';
import { ErrorBox } from '../../ui/error-box.js';
import { Page, Section } from '../../ui/page.js';
import { DatabaseHeading, DatabaseTabs } from '../database-head.js';
import { queryCompletion } from './completion.js';
import { FindResults } from './find-results.js';
import { IndexList } from './index-list.js';
import { PlanView } from './plan-view.js';

const firstQuery = '{\n  "selector": {},\n  "limit": 25\n}';
const sampleSize = 100;

/** The query that is run stands in the address: it survives a reload and can be sent to others. */
export function FindPage({ db, query }: { db: string; query: URLSearchParams }) {
  const asked = query.get('q');
  const [text, setText] = useState(asked ?? firstQuery);
  const problem = jsonProblem(text);
  const sample = useLoad((signal) => sampleDocuments(db, sampleSize, signal), [db]);
  const fields = useRef<string[]>([]);
  fields.current = useMemo(() => fieldNames(sample.data ?? []), [sample.data]);
  const completion = useMemo(() => queryCompletion(() => fields.current), []);
  const bookmark = query.get('bookmark');
  const [round, setRound] = useState(0);
  const inputs = [db, asked, bookmark, round];
  const answer = useLoad(
    async (signal) => (asked === null ? undefined : await find(db, asked, bookmark, signal)),
    inputs,
  );
  const plan = useLoad(
    async (signal) => (asked === null ? undefined : await explain(db, asked, signal)),
    [db, asked, round],
  );
  const run = (): void => {
    if (problem !== undefined) return;
    if (text === asked && bookmark === null) setRound(round + 1);
    else navigate(['db', db, 'find'], { q: text });
  };
  return (
    <Page title={`Query ${db}`} heading={<DatabaseHeading db={db} />}>
      <DatabaseTabs db={db} current="find" />
      <Editor
        class="short"
        label="Query as JSON"
        language="json"
        value={text}
        completion={completion}
        onChange={setText}
        onSubmit={run}
      />
      <div class="toolbar">
        <button type="button" class="primary" disabled={problem !== undefined} onClick={run}>
          Run <kbd>Ctrl Enter</kbd>
        </button>
        <button type="button" disabled={problem !== undefined} onClick={() => setText(formatJson(text))}>
          Format
        </button>
        <span class="quiet" role="status">
          {problem !== undefined ? 'Not valid JSON' : answer.isLoading && asked !== null ? 'Searching…' : ''}
        </span>
      </div>
      <ErrorBox error={answer.error} />
      {answer.data && !answer.error && (
        <FindResults
          db={db}
          answer={answer.data}
          onNext={() => setQuery({ bookmark: answer.data!.bookmark })}
        />
      )}
      {plan.data && asked !== null && (
        <Section title="How it is answered">
          <PlanView db={db} query={asked} plan={plan.data} onIndex={() => setRound(round + 1)} />
        </Section>
      )}
      <IndexList db={db} round={round} />
    </Page>
  );
}
