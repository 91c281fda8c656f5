import type { Attachment } from '../../api/documents.js';
import { getText } from '../../api/http.js';
import { formatJson, membersOf, withMembers } from '../../lib/json-text.js';
import { link } from '../../lib/router.js';
import { useLoad } from '../../lib/use-load.js';
import { Await, Page } from '../../ui/page.js';
import { Tabs } from '../../ui/tabs.js';
import { Text } from '../../ui/text.js';
import { DatabaseHeading } from '../database-head.js';
import { AttachmentsTab } from './attachments-tab.js';
import { ConflictsTab } from './conflicts-tab.js';
import { EditTab } from './edit-tab.js';
import { HistoryTab } from './history-tab.js';
import { newDocumentText } from './new-document.js';

export interface LoadedDocument {
  /** Formatted JSON, without what only describes the document's revisions. */
  text: string;
  rev: string | undefined;
  conflicts: string[];
  history: { rev: string; status: string }[];
  attachments: Record<string, Attachment>;
}

interface Props {
  db: string;
  /** Undefined for a new document. */
  id: string | undefined;
  query: URLSearchParams;
}

export function DocumentPage({ db, id, query }: Props) {
  const state = useLoad((signal) => load(db, id, query.get('copy'), signal), [db, id, query.get('copy')]);
  const tab = query.get('tab') ?? 'edit';
  return (
    <Page
      title={id ?? 'New document'}
      heading={
        <DatabaseHeading db={db}>
          {id === undefined ? 'New document' : <Text value={id} max={100} />}
        </DatabaseHeading>
      }
    >
      <Await state={state}>
        {(doc) => (
          <>
            {id !== undefined && (
              <Tabs label="Parts of the document" tabs={tabsOf(db, id, doc)} current={tab} />
            )}
            {tab === 'edit' && <EditTab key={doc.rev} db={db} id={id} doc={doc} onSaved={state.reload} />}
            {tab === 'conflicts' && (
              <ConflictsTab key={doc.rev} db={db} id={id!} doc={doc} onSaved={state.reload} />
            )}
            {tab === 'history' && <HistoryTab db={db} id={id!} doc={doc} />}
            {tab === 'attachments' && <AttachmentsTab db={db} id={id!} doc={doc} onChanged={state.reload} />}
          </>
        )}
      </Await>
    </Page>
  );
}

function tabsOf(db: string, id: string, { conflicts, history, attachments }: LoadedDocument) {
  const href = (tab?: string): string => link(['db', db, 'doc', id], { tab });
  const count = (title: string, number: number): string => (number === 0 ? title : `${title} (${number})`);
  return [
    { id: 'edit', title: 'Document', href: href() },
    {
      id: 'attachments',
      title: count('Attachments', Object.keys(attachments).length),
      href: href('attachments'),
    },
    { id: 'conflicts', title: count('Conflicts', conflicts.length), href: href('conflicts') },
    { id: 'history', title: count('History', history.length), href: href('history') },
  ];
}

async function load(
  db: string,
  id: string | undefined,
  copy: string | null,
  signal: AbortSignal,
): Promise<LoadedDocument> {
  if (id === undefined) {
    const text = await newDocumentText(db, copy, signal);
    return { text, rev: undefined, conflicts: [], history: [], attachments: {} };
  }
  return readLoaded(await getText([db, id], { meta: true }, signal));
}

function readLoaded(answer: string): LoadedDocument {
  const members = membersOf(answer);
  const read = <T,>(name: string, otherwise: T): T =>
    members.has(name) ? (JSON.parse(members.get(name)!) as T) : otherwise;
  const bare = { _revs_info: undefined, _conflicts: undefined, _deleted_conflicts: undefined };
  return {
    text: formatJson(withMembers(answer, bare)),
    rev: read<string | undefined>('_rev', undefined),
    conflicts: read<string[]>('_conflicts', []),
    history: read<LoadedDocument['history']>('_revs_info', []),
    attachments: read<Record<string, Attachment>>('_attachments', {}),
  };
}
