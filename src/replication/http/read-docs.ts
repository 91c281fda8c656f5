import { asBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { RequestError } from '../../base/errors.js';
import { ElementSplitter } from '../../json/element-splitter.js';
import { parseValue, scanBulk } from '../../json/scan.js';
import { formatRev, parseRev, type Rev } from '../../revisions/rev.js';
import { quoteId, quoteRev } from '../../shard/doc-text.js';
import { PeerFailure, type Missing, type ReadCounts, type ReadResult, type Unread } from '../peer.js';
import type { Answer, Call, Connection } from './connection.js';
import { docPath } from './doc-path.js';
import { foldedRev, HttpRevision, plainHead, type OpenAttachment } from './http-revision.js';
import { failureText, membersOf } from './members.js';

/** One document, with all that is said of its attachments. */
const docBytesMax = 128 * 1024 * 1024;
const tooLarge = (): Error => new PeerFailure('A document was larger than can be read.');
/** Answers of servers that have no `_bulk_get`. */
const unknownEndpoint: ReadonlySet<number> = new Set([400, 404, 405, 501]);
/** What a row may say that will not change by asking again. */
const lasting: ReadonlySet<string> = new Set(['forbidden', 'unauthorized', 'bad_request', 'illegal_docid']);

/** Revisions that are asked for by one address: more would make it longer than servers take. */
const openRevsMax = 50;

/** Revisions of one document that are still to be read. */
interface Open {
  id: Bytes;
  /** By their folded form. */
  revs: Map<string, Rev>;
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

  async *read(wanted: readonly Missing[], counts: ReadCounts): AsyncGenerator<ReadResult[]> {
    const open = new Map<Bytes, Open>();
    for (const { id, revs, ancestors } of wanted) {
      // A feed that names a document without revisions asks for nothing.
      if (revs.length === 0) continue;
      open.set(id, { id, revs: new Map(revs.map((rev) => [foldedRev(rev), rev])), ancestors });
    }
    if (this.#hasBulkGet) yield* this.#bulkGet(open, counts);
    for (const each of [...open.values()]) {
      while (open.has(each.id)) {
        const asked = [...each.revs.values()].slice(0, openRevsMax);
        yield await this.#openRevs(open, each, asked);
        if (asked.some((rev) => each.revs.has(foldedRev(rev)))) throw this.#left(each);
      }
    }
  }

  async *#bulkGet(open: Map<Bytes, Open>, counts: ReadCounts): AsyncGenerator<ReadResult[]> {
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
        let results: ReadResult[] = [];
        const onRow = (row: Buffer): void => void results.push(...this.#rowResults(row, open));
        const takeLine = (line: Buffer): boolean => {
          const doc = this.#plainDoc(line, open);
          if (doc !== undefined) results.push(doc);
          return doc !== undefined;
        };
        const splitter = new ElementSplitter('results', docBytesMax, tooLarge, onRow, takeLine);
        for await (const chunk of answer.body as AsyncIterable<Buffer>) {
          splitter.write(chunk);
          for (const result of results) if (!('unread' in result)) counts.bulkGetDocs++;
          yield results;
          results = [];
        }
        splitter.end();
        return;
      } catch (error) {
        await this.connection.pause(call, tries, error);
      }
    }
  }

  /** `{"id": …, "docs": [{"ok": …} or {"error": …}, …]}` */
  #rowResults(row: Buffer, open: Map<Bytes, Open>): ReadResult[] {
    const only = this.#onlyDoc(row, open);
    if (only !== undefined) return [only];
    let scanned;
    try {
      scanned = scanBulk(row, 'docs');
    } catch (error) {
      return this.#unreadableRow(row, open, error);
    }
    const named = scanned?.members.find(({ name }) => name === 'id');
    const id = named && parseValue(row, named.valueStart, named.valueEnd);
    const asked = typeof id === 'string' ? open.get(toBytes(id.toWellFormed())) : undefined;
    const docs = scanned?.elements ?? [];
    return docs.flatMap(({ start, end }) => this.#docResults(row.subarray(start, end), open, asked));
  }

  /**
   * The document of a line that is a row with nothing but one document without attachments; undefined where it may be more. It
   * is not looked into: what is no JSON is refused by the side that is to save it.
   */
  #plainDoc(line: Buffer, open: Map<Bytes, Open>): HttpRevision | undefined {
    const before = line.indexOf(beforeDoc);
    if (before < 0 || line.indexOf(afterDoc, line.length - afterDoc.length) < 0) return undefined;
    const start = before + beforeDoc.length;
    if (otherItems.some((each) => line.includes(each, start))) return undefined;
    const head = plainHead(line.subarray(start, line.length - afterDoc.length));
    if (head === undefined) return undefined;
    const doc = new HttpRevision(head.json, () => noRevs, this.openAttachment, head);
    this.#settle(doc, open, open.get(doc.id));
    return doc;
  }

  /**
   * The document of a row that holds one, which nearly all do: it ends where the row does. Where it is more than that, the
   * bytes between are no JSON, and undefined is given.
   */
  #onlyDoc(row: Buffer, open: Map<Bytes, Open>): ReadResult | undefined {
    const start = row.indexOf(beforeDoc);
    if (start < 0 || row.indexOf(afterDoc, row.length - afterDoc.length) < 0) return undefined;
    const json = row.subarray(start + beforeDoc.length, row.length - afterDoc.length);
    try {
      return this.#took(json, open, undefined);
    } catch {
      return undefined;
    }
  }

  /**
   * Other servers store what this one refuses in documents (half surrogate pairs, numbers beyond the range of a double).
   * Such a document fails by itself: were the whole answer refused, the replication would not get beyond it.
   */
  #unreadableRow(row: Buffer, open: Map<Bytes, Open>, error: unknown): ReadResult[] {
    if (!(error instanceof RequestError)) throw error;
    const { id } = membersOf(JSON.parse(row.toString()));
    const asked = typeof id === 'string' ? open.get(toBytes(id.toWellFormed())) : undefined;
    if (asked === undefined) throw error;
    return this.#refused('error', { error: error.error, reason: error.reason }, open, asked);
  }

  #docResults(bytes: Buffer, open: Map<Bytes, Open>, asked: Open | undefined): ReadResult[] {
    const members = scanBulk(bytes, '')?.members ?? [];
    return members.flatMap(({ name, valueStart, valueEnd }): ReadResult[] => {
      if (name === 'ok') return [this.#took(bytes.subarray(valueStart, valueEnd), open, asked)];
      if (asked === undefined || (name !== 'error' && name !== 'missing')) return [];
      return this.#refused(name, parseValue(bytes, valueStart, valueEnd), open, asked);
    });
  }

  #took(json: Buffer, open: Map<Bytes, Open>, asked: Open | undefined): HttpRevision {
    const ancestors = (id: Bytes): readonly Rev[] => (asked ?? open.get(id))?.ancestors ?? [];
    let doc = new HttpRevision(json, ancestors, this.openAttachment);
    // Those with attachments wait, and are not to keep the whole piece of the answer that they came with.
    if (doc.hasAttachments) doc = new HttpRevision(Buffer.from(json), ancestors, this.openAttachment);
    this.#settle(doc, open, asked ?? open.get(doc.id));
    return doc;
  }

  #settle(doc: HttpRevision, open: Map<Bytes, Open>, entry: Open | undefined): void {
    if (entry === undefined) return;
    // Most documents have one revision to read, and it is this one: then its history need not be looked into.
    settle(open, entry, [foldedRev(doc.rev)]);
    if (entry.revs.size > 0) settle(open, entry, doc.path);
  }

  #refused(member: string, value: unknown, open: Map<Bytes, Open>, asked: Open): Unread[] {
    const said =
      member === 'missing' ? { rev: value, error: 'not_found', reason: 'missing' } : membersOf(value);
    const { error, reason, rev } = said;
    const gone = error === 'not_found';
    // Anything else may be right the next time: what is left open is asked for again.
    if (!gone && !lasting.has(String(error))) return [];
    const named = typeof rev === 'string' && /^\d+-/.test(rev) ? parseRev(rev) : undefined;
    settle(open, asked, named === undefined ? [...asked.revs.keys()] : [foldedRev(named)]);
    const unread = gone ? 'gone' : 'refused';
    return [{ unread, id: asked.id, rev: named, reason: failureText(error, reason) }];
  }

  /** The leaves below the revisions that were asked for, of one document. */
  async #openRevs(open: Map<Bytes, Open>, asked: Open, revs: readonly Rev[]): Promise<ReadResult[]> {
    const call: Call = {
      method: 'GET',
      path: docPath(asked.id),
      query: {
        revs: 'true',
        latest: 'true',
        att_encoding_info: 'true',
        open_revs: JSON.stringify(revs.map(formatRev)),
      },
    };
    const { status, bytes } = await this.connection.retrying(call, async (answer) => ({
      status: answer.statusCode,
      bytes: await gather(answer),
    }));
    if (status !== 200) {
      const named = /"error"\s*:\s*"(\w+)"/.exec(bytes.latin1Slice(0, bytes.length))?.[1];
      const error = status === 404 ? 'not_found' : (named ?? String(status));
      return this.#refused('error', { error, reason: `answered ${status}` }, open, asked);
    }
    const docs = scanBulk(Buffer.concat([docsOpening, bytes, docsClosing]), 'docs')?.elements ?? [];
    return docs.flatMap((doc) =>
      doc.kind === 'object' ? this.#docResults(doc.bytes.subarray(doc.start, doc.end), open, asked) : [],
    );
  }

  #left({ id, revs }: Open): PeerFailure {
    const path = docPath(id);
    return this.connection.failure(
      { method: 'GET', path },
      `did not give ${[...revs.values()].slice(0, openRevsMax).map(formatRev).join(', ')}`,
    );
  }
}

const docsOpening = Buffer.from('{"docs":');
const docsClosing = Buffer.from('}');
/** What stands around the document in a row of `_bulk_get` that holds one. No text inside a string looks like it. */
const beforeDoc = Buffer.from('"docs":[{"ok":');
const afterDoc = Buffer.from('}]}');
/** What stands before a further document of a row. It may also stand in a document. */
const otherItems = [Buffer.from('{"ok":'), Buffer.from('{"error":'), Buffer.from('{"missing":')];
const noRevs: readonly Rev[] = [];

async function gather(answer: Answer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    if ((length += chunk.length) > docBytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Takes revisions off the list of what is to be read. */
function settle(open: Map<Bytes, Open>, entry: Open, done: Iterable<string>): void {
  for (const folded of done) entry.revs.delete(folded);
  if (entry.revs.size === 0) open.delete(entry.id);
}

function revsIn(open: ReadonlyMap<Bytes, Open>): number {
  let count = 0;
  for (const { revs } of open.values()) count += revs.size;
  return count;
}

function bulkGetBody(open: ReadonlyMap<Bytes, Open>): Bytes {
  const rows: Bytes[] = [];
  for (const { id, revs } of open.values())
    for (const rev of revs.values()) rows.push(asBytes(`{"id":${quoteId(id)},"rev":${quoteRev(rev)}}`));
  return asBytes(`{"docs":[${rows.join(',')}]}`);
}
