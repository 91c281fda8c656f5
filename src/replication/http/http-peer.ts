import { fromBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { RequestError } from '../../base/errors.js';
import { formatRev, parseRev, type Rev } from '../../revisions/rev.js';
import { quoteId, quoteRev } from '../../shard/doc-text.js';
import type {
  CarriedAttachment,
  Change,
  ChangesPage,
  ChangesRequest,
  DocRevision,
  LocalDoc,
  Missing,
  Peer,
  ReadCounts,
  ReadResult,
  WriteFailure,
} from '../peer.js';
import type { RemoteEndpoint } from '../endpoint.js';
import type { ReplicationSpec } from '../spec.js';
import { readChanges } from './changes-feed.js';
import { Connection, type Call, type ConnectionOptions } from './connection.js';
import { docPath } from './doc-path.js';
import { DocReader } from './read-docs.js';
import { membersOf } from './members.js';
import { exactly, postDocs, putWithAttachments } from './write-docs.js';

export interface HttpPeerOptions {
  useBulkGet: boolean;
  /** How often a feed without news shows that it is alive. */
  heartbeatMs: number;
}

type ConnectionTools = Omit<ConnectionOptions, 'timeoutMs' | 'retries' | 'connections'>;

/** The side of a replication that is behind HTTP. */
export function makeHttpPeer(
  endpoint: RemoteEndpoint,
  { timeoutMs, retries, connections, useBulkGet }: ReplicationSpec,
  tools: ConnectionTools,
): HttpPeer {
  const connection = new Connection(endpoint, { timeoutMs, retries, connections, ...tools });
  return new HttpPeer(connection, { useBulkGet, heartbeatMs: Math.ceil(timeoutMs / 3) });
}

/** A database of another server, or of this one by its address. */
export class HttpPeer implements Peer {
  readonly #reader: DocReader;
  /** Revisions of the local documents that were read or written last. */
  readonly #localRevs = new Map<string, string>();

  constructor(
    private readonly connection: Connection,
    private readonly options: HttpPeerOptions,
  ) {
    const open = (id: Bytes, rev: Rev, attachment: Omit<CarriedAttachment, 'open'>) =>
      this.#openAttachment(id, rev, attachment);
    this.#reader = new DocReader(connection, open, options.useBulkGet);
  }

  get address(): string {
    return this.connection.address;
  }

  async open(): Promise<{ isEmpty: boolean }> {
    const call: Call = { method: 'GET', path: '' };
    const { status, value } = await this.connection.json(call);
    if (status === 404) throw new RequestError('db_not_found', `could not open ${this.address}`);
    const info = membersOf(value);
    if (status !== 200 || typeof info['db_name'] !== 'string')
      throw this.connection.unexpected(call, status, value);
    return { isEmpty: info['doc_count'] === 0 && info['doc_del_count'] === 0 && !isPartitioned(info) };
  }

  async create(params: Readonly<Record<string, string>>): Promise<void> {
    const call: Call = { method: 'PUT', path: '', ...(Object.keys(params).length > 0 && { query: params }) };
    const { status, value } = await this.connection.json(call);
    if (![200, 201, 202, 412].includes(status)) throw this.connection.unexpected(call, status, value);
  }

  changes(request: ChangesRequest): AsyncIterable<ChangesPage> {
    return readChanges(this.connection, request, this.options.heartbeatMs);
  }

  async revsDiff(changes: readonly Change[]): Promise<Missing[]> {
    const rows = changes.map(({ id, revs }) => `${quoteId(id)}:[${revs.map(quoteRev).join(',')}]`);
    const call: Call = {
      method: 'POST',
      path: '_revs_diff',
      headers: { 'content-type': 'application/json' },
      body: () => Buffer.from(`{${rows.join(',')}}`, 'latin1'),
    };
    const { status, value } = await this.connection.json(call);
    if (status === 400 && !refusesId(value)) return await this.#revsDiffOneByOne(changes);
    if (status === 404) throw new RequestError('db_not_found', `could not open ${this.address}`);
    if (status !== 200 || typeof value !== 'object' || value === null)
      throw this.connection.unexpected(call, status, value);
    return Object.entries(value).map(([id, said]) => {
      const { missing, possible_ancestors } = membersOf(said);
      const revs = readRevs(missing);
      if (revs === undefined) throw this.connection.failure(call, 'was answered by no list of revisions');
      return { id: toBytes(id), revs, ancestors: readRevs(possible_ancestors) ?? [] };
    });
  }

  /** The other side can't hold one of these ids: that will show when the document is written, and count as a failure. */
  async #revsDiffOneByOne(changes: readonly Change[]): Promise<Missing[]> {
    if (changes.length === 1) return changes.map(({ id, revs }) => ({ id, revs, ancestors: [] }));
    const half = changes.length >> 1;
    const first = await this.revsDiff(changes.slice(0, half));
    return [...first, ...(await this.revsDiff(changes.slice(half)))];
  }

  readDocs(wanted: readonly Missing[], counts: ReadCounts): AsyncIterable<ReadResult[]> {
    return this.#reader.read(wanted, counts);
  }

  writeDocs(docs: readonly DocRevision[]): Promise<WriteFailure[]> {
    return postDocs(this.connection, docs);
  }

  writeWithAttachments(doc: DocRevision): Promise<WriteFailure | undefined> {
    return putWithAttachments(this.connection, doc);
  }

  async readLocal(id: string): Promise<LocalDoc | undefined> {
    const doc = await this.readDoc(`_local/${id}`);
    if (doc === undefined) this.#localRevs.delete(id);
    else this.#localRevs.set(id, String(doc['_rev']));
    return doc;
  }

  async writeLocal(id: string, doc: LocalDoc): Promise<void> {
    for (let tries = 0; ; tries++) {
      const rev = this.#localRevs.get(id);
      const body = JSON.stringify({ ...doc, _id: `_local/${id}`, ...(rev && { _rev: rev }) });
      const headers = { 'content-type': 'application/json' };
      const call: Call = { method: 'PUT', path: docPath(toBytes(`_local/${id}`)), headers, body: () => body };
      const { status, value } = await this.connection.json(call);
      if (status === 201 || status === 202 || status === 200) {
        this.#localRevs.set(id, String(membersOf(value)['rev']));
        return;
      }
      if (status !== 409 || tries >= 3) throw this.connection.unexpected(call, status, value);
      await this.readLocal(id);
    }
  }

  async readDoc(id: string): Promise<LocalDoc | undefined> {
    const call: Call = { method: 'GET', path: docPath(toBytes(id)) };
    const { status, value } = await this.connection.json(call);
    if (status === 404) return undefined;
    if (status !== 200 || typeof value !== 'object' || value === null)
      throw this.connection.unexpected(call, status, value);
    return value as LocalDoc;
  }

  /** Servers that have nothing to flush may not have the endpoint either. */
  async commit(): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const call: Call = { method: 'POST', path: '_ensure_full_commit', headers, body: () => '{}' };
    const { status, value } = await this.connection.json(call);
    if (status === 401 || status === 403) throw this.connection.unexpected(call, status, value);
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  /** Bytes that are stored compressed come so, and keep their digest. */
  async #openAttachment(
    id: Bytes,
    rev: Rev,
    { name, gzip, length }: Omit<CarriedAttachment, 'open'>,
  ): Promise<AsyncIterable<Buffer>> {
    const path = `${docPath(id)}/${name.split('/').map(encodeURIComponent).join('/')}`;
    const call: Call = {
      method: 'GET',
      path,
      query: { rev: formatRev(rev) },
      headers: { accept: '*/*', 'accept-encoding': gzip ? 'gzip' : 'identity' },
    };
    const { statusCode, headers, body } = await this.connection.send(call);
    const packed = headers['content-encoding'] === 'gzip';
    if (statusCode === 200 && packed === gzip) return exactly(body, length, `${fromBytes(id)}/${name}`);
    await body.dump();
    throw this.connection.failure(call, `was answered ${statusCode}`);
  }
}

/** Such a database refuses ids: that shows when it is asked what it lacks. */
const isPartitioned = ({ props }: Readonly<LocalDoc>): boolean => membersOf(props)['partitioned'] === true;

const readRevs = (value: unknown): Rev[] | undefined =>
  Array.isArray(value) ? value.map((rev) => parseRev(String(rev))) : undefined;

/** A database that can't hold an id at all, such as a partitioned one, is the wrong target, not one with a bad document. */
const refusesId = (value: unknown): boolean => membersOf(value)['error'] === 'illegal_docid';
