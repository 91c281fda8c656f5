import { isUtf8 } from 'node:buffer';
import { asBytes, noBytes, type Bytes } from '../../base/bytes.js';
import { invalidJson, notAnObject, RequestError } from '../../base/errors.js';
import { storageRefusal } from '../../base/storage-errors.js';
import type { Database } from '../../node/database.js';
import { checkStubs } from '../../documents/attachments/attach.js';
import type { NamedInput } from '../../shard/document-input.js';
import { ElementSplitter } from '../../json/element-splitter.js';
import { scanBulk } from '../../json/scan.js';
import { bodyProblem, openBody, requireJson } from '../request/body.js';
import {
  BulkSaver,
  bulkSettings,
  checkDocs,
  failedRows,
  refuseAllOrNothing,
  type BulkSettings,
} from '../request/bulk-docs.js';
import type { Exchange } from '../exchange.js';
import { countBody } from '../connection/memory-budgets.js';
import { contentTypeFor } from '../request/negotiate.js';
import type { DatabaseRoute } from './route.js';
import { Spool } from '../request/spool.js';

/** Many documents in one request. */
export const bulkRoutes: readonly DatabaseRoute[] = [
  { path: '/{db}/_bulk_docs', allow: 'POST', access: 'writer', methods: { POST: bulkDocs } },
];

/** Bodies up to this size are kept in memory; larger ones go through a file. */
const bodyInMemoryBytesMax = 8 * 1024 * 1024;

async function bulkDocs(exchange: Exchange, database: Database): Promise<void> {
  requireJson(exchange.request);
  const declared = Number(exchange.header('content-length') ?? Infinity);
  const packed = exchange.header('content-encoding') !== undefined;
  if (declared <= bodyInMemoryBytesMax && !packed) await saveFromMemory(exchange, database);
  else await saveFromFile(exchange, database);
}

async function saveFromMemory(exchange: Exchange, database: Database): Promise<void> {
  const bytes = await exchange.body();
  const saver = new BulkSaver(exchange, database);
  const { inputs, settings } =
    bytes.length <= atOnceBytesMax ? readAtOnce(bytes, saver) : await readInSlices(bytes, saver);
  if (settings.allOrNothing && inputs.length > 0) return refuseAllOrNothing(exchange, inputs);
  const rows = await saver.save(inputs, settings);
  exchange.services.metrics.bulkDocs.observe(saver.count);
  exchange.text(saver.isAccepted ? 202 : 201, asBytes(`[${rows.join(',')}]`));
}

interface Bulk {
  inputs: NamedInput[];
  settings: BulkSettings;
}

/** Bodies up to this size are read in one turn; larger ones in pieces, so that other requests are not delayed. */
const atOnceBytesMax = 512 * 1024;
const pieceBytes = 64 * 1024;

function readAtOnce(bytes: Buffer, saver: BulkSaver): Bulk {
  const scanned = scanBulk(bytes, 'docs');
  if (scanned === undefined) throw notAnObject();
  checkDocs(scanned.members, scanned.elements !== undefined);
  const inputs = scanned.elements!.map((element) => saver.read(element));
  return { inputs, settings: bulkSettings(bytes, scanned.members) };
}

async function readInSlices(bytes: Buffer, saver: BulkSaver): Promise<Bulk> {
  const inputs: NamedInput[] = [];
  const docs = new DocSplitter(saver, (input) => inputs.push(input));
  const slice = saver.runtime.slice();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    await docs.write(bytes.subarray(at, at + pieceBytes));
    if (slice.isOver) await slice.next();
  }
  // What stands beside the documents is read in one go.
  await slice.next();
  const settings = settingsOf(docs.end());
  await slice.next();
  return { inputs, settings };
}

/** Reads the documents of a body that comes in pieces. */
class DocSplitter {
  #elements: Buffer[] = [];
  readonly #splitter = new ElementSplitter('docs', elementBytesMax, elementTooLarge, (bytes) =>
    this.#elements.push(bytes),
  );

  constructor(
    private readonly saver: BulkSaver,
    private readonly onInput: (input: NamedInput, bytes: Buffer) => void,
  ) {}

  async write(piece: Buffer): Promise<void> {
    this.#splitter.write(piece);
    const elements = this.#elements;
    this.#elements = [];
    for (const bytes of elements) {
      const input = this.saver.readText(bytes);
      this.onInput(input instanceof Promise ? await input : input, bytes);
    }
  }

  /** Bytes that are kept for later pieces. */
  get heldBytes(): number {
    return this.#splitter.heldBytes;
  }

  /** What stands beside the documents. */
  end(): Buffer {
    return this.#splitter.end();
  }
}

/**
 * A body that is too large for the memory is written to a file and read twice: first to see whether all of it is
 * sound, since one bad document refuses them all, then to save it piece by piece. The answer, which may be as large,
 * waits in a file of its own, so that a slow reader does not delay writes.
 */
async function saveFromFile(exchange: Exchange, database: Database): Promise<void> {
  const { spoolFolder, runtime } = exchange.services;
  const saver = new BulkSaver(exchange, database);
  const body = await Spool.open(spoolFolder, runtime);
  try {
    const stubbed: NamedInput[] = [];
    let refusal: RequestError | undefined;
    const check = new DocSplitter(saver, (input) => {
      refusal ??= saver.admissionRefusal(input);
      if (hasStubs(input)) stubbed.push(withoutBytes(input));
    });
    await body
      .fill(openBody(exchange.request, exchange.bodyBytesMax), async (chunk) => {
        await check.write(chunk);
        exchange.bodyShare.moved();
        countBody(exchange.bodyShare, check.heldBytes);
      })
      .catch((error: unknown) => {
        throw bodyProblem(error);
      });
    exchange.bodyShare.settle();
    const settings = settingsOf(check.end());
    if (settings.newEdits && refusal !== undefined) throw refusal;
    for (const input of stubbed) checkStubs(database, input, settings.newEdits);
    saver.rewind();
    if (settings.allOrNothing)
      throw new RequestError('expectation_failed', 'all_or_nothing is not supported');
    const answer = await Spool.open(spoolFolder, runtime);
    try {
      await saveElements(body, answer, saver, settings);
      exchange.services.metrics.bulkDocs.observe(saver.count);
      exchange.head(saver.isAccepted ? 202 : 201, {
        'Content-Type': contentTypeFor(exchange.request.headers.accept),
        'Content-Length': answer.length,
      });
      await answer.sendTo(exchange.response);
    } finally {
      await answer.close();
    }
  } finally {
    await body.close();
  }
}

const hasStubs = ({ attachments }: NamedInput): boolean =>
  attachments?.some(({ kind }) => kind === 'stub') ?? false;

/** What is needed to look its stubs up, and nothing that could be large. */
function withoutBytes(input: NamedInput): NamedInput {
  return {
    ...input,
    body: noBytes,
    attachments: input.attachments?.filter(({ kind }) => kind === 'stub'),
  };
}

/** One document with all its inline attachments; what is left without them has a limit of its own. */
const elementBytesMax = 64 * 1024 * 1024;
const elementTooLarge = (): RequestError =>
  new RequestError('document_too_large', 'A document of a bulk request is too large.');

function settingsOf(skeleton: Buffer): ReturnType<typeof bulkSettings> {
  if (!isUtf8(skeleton)) throw invalidJson();
  const scanned = scanBulk(skeleton, 'docs');
  if (scanned === undefined) throw notAnObject();
  checkDocs(scanned.members, scanned.elements !== undefined);
  return bulkSettings(skeleton, scanned.members);
}

/** Documents saved with one command for each shard. */
const groupDocsMax = 1_000;
const groupBytesMax = 512 * 1024;

async function saveElements(
  body: Spool,
  answer: Spool,
  saver: BulkSaver,
  settings: BulkSettings,
): Promise<void> {
  let group: NamedInput[] = [];
  let groupBytes = 0;
  let separator = '[';
  const docs = new DocSplitter(saver, (input, bytes) => {
    group.push(input);
    groupBytes += bytes.length;
  });
  let anySaved = false;
  const saveGroup = async (): Promise<readonly Bytes[]> => {
    try {
      const rows = await saver.save(group, settings);
      anySaved = true;
      return rows;
    } catch (error) {
      // Those before are stored: the answer has to tell which.
      const refusal = storageRefusal(error);
      if (refusal === undefined || !anySaved) throw error;
      return failedRows(group, refusal);
    }
  };
  const save = async (): Promise<void> => {
    for (const row of await saveGroup()) {
      await answer.add(asBytes(separator + row));
      separator = ',';
    }
    group = [];
    groupBytes = 0;
  };
  for await (const chunk of body.chunks()) {
    await docs.write(chunk);
    if (group.length >= groupDocsMax || groupBytes >= groupBytesMax) await save();
  }
  await save();
  await answer.add(separator === '[' ? asBytes('[]\n') : asBytes(']\n'));
}
