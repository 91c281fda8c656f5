import { asBytes, fromBytes, type Bytes } from '../base/bytes.js';
import type { DatabaseRegistry } from '../node/database-registry.js';
import type { Database } from '../node/database.js';
import { isDesignId } from '../shard/doc-id.js';
import { allIds } from '../shard/group-reader.js';
import { decodeWinner } from '../shard/doc-record.js';
import { withoutLogin } from './endpoint.js';
import { isoSeconds } from './job.js';
import type { LocalDoc } from './peer.js';
import { isReplicatorName, readBody } from './replicator-database.js';
import type { DocEntry, ReplicatorDocs } from './replicator-docs.js';

export const docStates = [
  'initializing',
  'error',
  'running',
  'pending',
  'crashing',
  'completed',
  'failed',
] as const;

export interface DocsQuery {
  skip: number;
  limit: number;
  /** Undefined for all. */
  states: ReadonlySet<string> | undefined;
}

export interface DocsPage {
  total_rows: number;
  offset: number;
  docs: LocalDoc[];
}

const docsAtOnce = 200;

/** What `_scheduler/docs` tells: of documents under way by what is known of their jobs, of others by what they say. */
export class SchedulerDocs {
  constructor(
    private readonly registry: DatabaseRegistry,
    private readonly docs: ReplicatorDocs,
  ) {}

  /** Documents of the databases, in their order. */
  async list(names: readonly string[], { skip, limit, states }: DocsQuery): Promise<DocsPage> {
    const page: DocsPage = { total_rows: 0, offset: skip, docs: [] };
    let passed = 0;
    for (const name of names) {
      const database = isReplicatorName(name) ? this.registry.find(name) : undefined;
      if (database === undefined) continue;
      for await (const { id, content } of liveDocs(database)) {
        page.total_rows++;
        if (page.docs.length >= limit && states === undefined) continue;
        const doc = this.#describe(name, fromBytes(id), content);
        if (states !== undefined && !states.has(String(doc['state']))) continue;
        if (passed++ < skip || page.docs.length >= limit) continue;
        page.docs.push(doc);
      }
    }
    page.offset = Math.min(skip, page.total_rows);
    return page;
  }

  /** One document; undefined where there is none. */
  get(name: string, id: Bytes): LocalDoc | undefined {
    const database = isReplicatorName(name) ? this.registry.find(name) : undefined;
    const found = database?.collection.winner(id);
    if (database === undefined || found === undefined || found.deleted || isDesignId(id)) return undefined;
    return this.#describe(name, fromBytes(id), database.collection.winnerBody(database.shardOf(id), found));
  }

  #describe(database: string, docId: string, content: Bytes): LocalDoc {
    const { nodeName } = this.registry;
    const entry = this.docs.get(database, docId);
    if (entry?.job !== undefined) return entry.job.describeDoc(nodeName);
    const body = readBody(content);
    return entry === undefined ? ended(database, docId, body) : underWay(entry, nodeName);
  }
}

function underWay(entry: DocEntry, node: string): LocalDoc {
  const { database, docId, body, state, lastError, errorCount } = entry;
  return {
    database,
    doc_id: docId,
    id: null,
    node,
    source: shownEndpoint(body['source']),
    target: shownEndpoint(body['target']),
    state: state === 'error' ? 'error' : 'initializing',
    info: state === 'error' ? { error: lastError } : null,
    error_count: errorCount,
    last_updated: isoSeconds(entry.changed),
    start_time: isoSeconds(entry.since),
    source_proxy: shownProxy(body['source_proxy'] ?? body['proxy']),
    target_proxy: shownProxy(body['target_proxy'] ?? body['proxy']),
  };
}

/** One that says of itself how it ended; until it is taken up, one that does not has yet to begin. */
function ended(database: string, docId: string, body: LocalDoc): LocalDoc {
  const said = body['_replication_state'];
  const state = said === 'completed' || said === 'failed' ? said : 'initializing';
  const { start_time, ...stats } = (body['_replication_stats'] ?? {}) as LocalDoc;
  const time = body['_replication_state_time'] ?? null;
  return {
    database,
    doc_id: docId,
    id: null,
    source: shownEndpoint(body['source']),
    target: shownEndpoint(body['target']),
    state,
    error_count: state === 'failed' ? 1 : 0,
    info: state === 'failed' ? { error: body['_replication_state_reason'] ?? null } : stats,
    start_time: start_time ?? time,
    last_updated: time,
  };
}

/** Without credentials. */
function shownEndpoint(value: unknown): unknown {
  const url = typeof value === 'object' && value !== null ? (value as { url?: unknown }).url : value;
  return typeof url === 'string' ? withoutLogin(url).replace(/\/?$/, '/') : null;
}

const shownProxy = (value: unknown): string | null =>
  typeof value === 'string' ? withoutLogin(value) : null;

/** All documents that are there, but design documents. */
async function* liveDocs(database: Database): AsyncGenerator<{ id: Bytes; content: Bytes }> {
  const { collection } = database;
  const { end } = allIds;
  for (let { start } = allIds; ;) {
    const entries = collection.docs('live', { start, end, limit: docsAtOnce });
    for (const { key, value } of entries) {
      const found = decodeWinner(value);
      const id = found.longId ?? key;
      if (!isDesignId(id)) yield { id, content: collection.winnerBody(database.shardOf(id), found) };
    }
    if (entries.length < docsAtOnce) return;
    start = asBytes(`${entries.at(-1)!.key}\0`);
    await database.runtime.nextTurn();
  }
}
