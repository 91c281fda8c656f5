import { toBytes, type Bytes } from '../../base/bytes.js';
import { ElementSplitter } from '../../json/element-splitter.js';
import { parseValue, scanBulk } from '../../json/scan.js';
import { formatRev, parseRev, type Rev } from '../../revisions/rev.js';
import { quoteId, quoteRev } from '../../shard/doc-text.js';
import { PeerFailure, type Missing, type ReadCounts, type ReadResult, type Unread } from '../peer.js';
import type { Answer, Call, Connection } from './connection.js';
import { docPath } from './doc-path.js';
import { HttpRevision, type OpenAttachment } from './http-revision.js';

/** One document, with all that is said of its attachments. */
const docBytesMax = 128 * 1024 * 1024;
const tooLarge = (): Error => new PeerFailure('A document was larger than can be read.');
/** Answers of servers that have no `_bulk_get`. */
const unknownEndpoint: ReadonlySet<number> = new Set([400, 404, 405, 501]);
/** What a row may say that will not change by asking again. */
const lasting: ReadonlySet<string> = new Set(['forbidden', 'unauthorized', 'bad_request', 'illegal_docid']);

/** Revisions of one document that are still to be read. */
interface Open {
  id: Bytes;
  revs: Rev[];
  ancestors: readonly Rev[];
}

/**
 * Reads revisions from another server: many with one request where it can do that, and otherwise, or where that left
 * some out, document by document. Each is handed on as soon as it is there. When a connection breaks, what is left is
 * asked for again.
 */
export class DocReader {
  #hasBulkGet: boolean;

  constructor(
    private readonly connection: Connection,
    private readonly openAttachment: OpenAttachment,
    useBulkGet: boolean,
  ) {
    this.#hasBulkGet = useBulkGet;
  }

  async *read(wanted: readonly Missing[], counts: ReadCounts): AsyncGenerator<ReadResult> {
    const open = new Map(
      wanted.map(({ id, revs, ancestors }): [Bytes, Open] => [id, { id, revs: [...revs], ancestors }]),
    );
    if (this.#hasBulkGet) yield* this.#bulkGet(open, counts);
    for (const each of [...open.values()]) {
      yield* this.#openRevs(open, each);
      if (open.has(each.id)) throw this.#left(each);
    }
  }

  async *#bulkGet(open: Map<Bytes, Open>, counts: ReadCounts): AsyncGenerator<ReadResult> {
    counts.bulkGetAttempts += revsIn(open);
    const call: Call = {
      method: 'POST',
      path: '_bulk_get',
      query: { revs: 'true', latest: 'true', att_encoding_info: 'true' },
      headers: { 'content-type': 'application/json' },
      body: () => Buffer.from(bulkGetBody(open), 'latin1'),
    };
    for (let tries = 0; open.size > 0; tries++) {
      const answer = await this.connection.send(call);
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        if (!unknownEndpoint.has(answer.statusCode))
          throw this.connection.unexpected(call, answer.statusCode, undefined);
        this.#hasBulkGet = false;
        counts.bulkGetAttempts -= revsIn(open);
        return;
      }
      try {
        for await (const result of this.#results(answer, open)) {
          if ('unread' in result) yield result;
          else {
            counts.bulkGetDocs++;
            yield result;
          }
        }
        return;
      } catch (error) {
        if (tries >= this.connection.retries) throw error;
        await this.connection.pause(tries, error);
      }
    }
  }

  async *#results(answer: Answer, open: Map<Bytes, Open>): AsyncGenerator<ReadResult> {
    let ready: Buffer[] = [];
    const splitter = new ElementSplitter('results', docBytesMax, tooLarge, (bytes) => ready.push(bytes));
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      splitter.write(chunk);
      const rows = ready;
      ready = [];
      for (const row of rows) yield* this.#rowResults(row, open);
    }
    splitter.end();
  }

  /** `{"id": …, "docs": [{"ok": …} or {"error": …}, …]}` */
  *#rowResults(row: Buffer, open: Map<Bytes, Open>): Generator<ReadResult> {
    const scanned = scanBulk(row, 'docs');
    const named = scanned?.members.find(({ name }) => name === 'id');
    const id = named && parseValue(row, named.valueStart, named.valueEnd);
    const asked = typeof id === 'string' ? open.get(toBytes(id.toWellFormed())) : undefined;
    for (const { start, end } of scanned?.elements ?? [])
      yield* this.#docResults(row.subarray(start, end), open, asked);
  }

  *#docResults(bytes: Buffer, open: Map<Bytes, Open>, asked: Open | undefined): Generator<ReadResult> {
    const members = scanBulk(bytes, '')?.members ?? [];
    for (const { name, valueStart, valueEnd } of members) {
      if (name === 'ok') yield this.#took(bytes.subarray(valueStart, valueEnd), open, asked);
      else if (asked !== undefined && (name === 'error' || name === 'missing'))
        yield* this.#refused(name, parseValue(bytes, valueStart, valueEnd), open, asked);
    }
  }

  #took(json: Buffer, open: Map<Bytes, Open>, asked: Open | undefined): HttpRevision {
    const doc = new HttpRevision(json, asked?.ancestors ?? [], this.openAttachment);
    const entry = asked ?? open.get(doc.id);
    if (entry !== undefined) settle(open, entry, (rev) => doc.covers(rev));
    return doc;
  }

  *#refused(member: string, value: unknown, open: Map<Bytes, Open>, asked: Open): Generator<Unread> {
    const said =
      member === 'missing'
        ? { rev: value, error: 'not_found', reason: 'missing' }
        : ((value ?? {}) as Record<string, unknown>);
    const { error, reason, rev } = said;
    const gone = error === 'not_found';
    // Anything else may be right the next time: what is left open is asked for again.
    if (!gone && !lasting.has(String(error))) return;
    const named = typeof rev === 'string' && /^\d+-/.test(rev) ? parseRev(rev) : undefined;
    settle(open, asked, (each) => named === undefined || formatRev(each) === formatRev(named));
    yield {
      unread: gone ? 'gone' : 'refused',
      id: asked.id,
      rev: named,
      reason: `${String(error)}: ${String(reason)}`,
    };
  }

  /** The leaves below the revisions that were asked for, of one document. */
  async *#openRevs(open: Map<Bytes, Open>, asked: Open): AsyncGenerator<ReadResult> {
    const call: Call = {
      method: 'GET',
      path: docPath(asked.id),
      query: {
        revs: 'true',
        latest: 'true',
        att_encoding_info: 'true',
        open_revs: JSON.stringify(asked.revs.map(formatRev)),
      },
    };
    const answer = await this.connection.send(call);
    if (answer.statusCode !== 200) {
      const text = await answer.body.text();
      const error = /"error"\s*:\s*"(\w+)"/.exec(text)?.[1] ?? String(answer.statusCode);
      if (answer.statusCode === 404)
        yield* this.#refused('error', { error: 'not_found', reason: 'missing' }, open, asked);
      else yield* this.#refused('error', { error, reason: `answered ${answer.statusCode}` }, open, asked);
      return;
    }
    const chunks: Buffer[] = [Buffer.from('{"docs":')];
    let length = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if ((length += chunk.length) > docBytesMax) throw tooLarge();
      chunks.push(chunk);
    }
    const bytes = Buffer.concat([...chunks, Buffer.from('}')]);
    for (const { start, end } of scanBulk(bytes, 'docs')?.elements ?? [])
      yield* this.#docResults(bytes.subarray(start, end), open, asked);
  }

  #left({ id, revs }: Open): PeerFailure {
    const path = docPath(id);
    return this.connection.failure({ method: 'GET', path }, `did not give ${revs.map(formatRev).join(', ')}`);
  }
}

/** Takes revisions off the list of what is to be read. */
function settle(open: Map<Bytes, Open>, entry: Open, done: (rev: Rev) => boolean): void {
  entry.revs = entry.revs.filter((rev) => !done(rev));
  if (entry.revs.length === 0) open.delete(entry.id);
}

function revsIn(open: ReadonlyMap<Bytes, Open>): number {
  let count = 0;
  for (const { revs } of open.values()) count += revs.length;
  return count;
}

function bulkGetBody(open: ReadonlyMap<Bytes, Open>): Bytes {
  const rows: Bytes[] = [];
  for (const { id, revs } of open.values())
    for (const rev of revs) rows.push(`{"id":${quoteId(id)},"rev":${quoteRev(rev)}}`);
  return `{"docs":[${rows.join(',')}]}`;
}
