import { withMembers } from '../lib/json-text.js';
import { call, get, getText, type Query } from './http.js';

export interface ViewSource {
  map: string;
  reduce?: string;
}

export interface DesignDoc {
  _id: string;
  language?: string;
  views?: Record<string, ViewSource>;
}

export interface ViewRow {
  id?: string;
  key: unknown;
  value: unknown;
}

export interface ViewAnswer {
  total_rows?: number;
  offset?: number;
  rows: ViewRow[];
}

const designDocsMax = 500;

export async function designDocs(db: string, signal?: AbortSignal): Promise<DesignDoc[]> {
  const query = { include_docs: true, limit: designDocsMax, startkey: '"_design/"', endkey: '"_design0"' };
  const { rows } = await get<{ rows: { doc: DesignDoc }[] }>([db, '_all_docs'], query, signal);
  return rows.map(({ doc }) => doc);
}

/** Saves a view in a design document, which is created if it does not exist; its other members are kept. */
export async function saveView(
  db: string,
  ddoc: string,
  name: string,
  view: ViewSource | undefined,
): Promise<void> {
  const id = `_design/${ddoc}`;
  const text = await getText([db, id]).catch((error: { status?: number }) => {
    if (error.status === 404) return JSON.stringify({ _id: id, language: 'javascript', views: {} });
    throw error;
  });
  const { views = {} } = JSON.parse(text) as DesignDoc;
  const changed = { ...views };
  if (view === undefined) delete changed[name];
  else changed[name] = view;
  await call('PUT', [db, id], { text: withMembers(text, { views: JSON.stringify(changed) }) });
}

export const queryView = (
  db: string,
  ddoc: string,
  view: string,
  query: Query,
  signal: AbortSignal,
): Promise<ViewAnswer> => get([db, `_design/${ddoc}`, '_view', view], query, signal);

export interface ViewIndexInfo {
  view_index: {
    updater_running: boolean;
    sizes: { file: number };
    updates_pending: { total: number };
  };
}

export const viewInfo = (db: string, ddoc: string, signal: AbortSignal): Promise<ViewIndexInfo> =>
  get([db, `_design/${ddoc}`, '_info'], undefined, signal);
