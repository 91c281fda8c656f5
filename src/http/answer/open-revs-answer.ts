import { asBytes, noBytes, type Bytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import type { Runtime } from '../../base/runtime.js';
import { sortInSlices } from '../../base/sort-in-slices.js';
import type { DatabaseRegistry } from '../../node/database-registry.js';
import type { Database } from '../../node/database.js';
import { quoteRev } from '../../shard/doc-text.js';
import type { FoundRev, FoundRevs, OpenedRev } from '../../documents/open-doc.js';
import { compareRevs, parseRev, type Rev } from '../../revisions/rev.js';
import { openedInTurn, revPart, revPieces, sendParts, type AttachmentOptions } from './document-answer.js';
import type { Exchange } from '../exchange.js';
import { MultipartWriter, type OutgoingPart } from '../../base/multipart/multipart-writer.js';
import { takesMultipart } from '../request/negotiate.js';
import { parseJsonText } from '../request/query.js';
import { begun, writePiece } from './stream.js';

/** `open_revs`: a list of revisions, or all leaves. */
export function parseOpenRevs(text: string): Rev[] | 'all' {
  return text === 'all' ? 'all' : parseRevs(parseJsonText(text));
}

export function parseRevs(value: unknown): Rev[] {
  if (!Array.isArray(value)) throw badRequest('Invalid list of revisions');
  return value.map((each) => {
    if (typeof each !== 'string') throw badRequest('Invalid rev format');
    return parseRev(each);
  });
}

/** Each revision once, in the order of revisions, and those that are missing behind the others. */
async function inOrder({ revs, open }: FoundRevs, runtime: Runtime): Promise<FoundRevs> {
  const sorted = await sortInSlices([...revs], compareFound, runtime);
  return { revs: sorted.filter((each, at) => at === 0 || compareFound(sorted[at - 1]!, each) !== 0), open };
}

const compareFound = (a: FoundRev, b: FoundRev): number =>
  Number('missing' in a) - Number('missing' in b) || compareRevs(revOf(a), revOf(b));

const revOf = (found: FoundRev): Rev => ('missing' in found ? found.missing : found);

/** Answers with several revisions: as a JSON array, or as the parts of a multipart answer. */
export async function answerOpenRevs(
  exchange: Exchange,
  database: Database,
  found: FoundRevs,
  options: AttachmentOptions,
): Promise<void> {
  const { registry } = exchange.services;
  const ordered = await inOrder(found, database.runtime);
  const accept = exchange.header('accept') ?? '*/*';
  if (!takesMultipart(accept, 'mixed')) {
    const opened = openedInTurn(registry, database, ordered, options);
    return await answerJson(exchange, jsonPieces(registry, database, opened, options));
  }
  const opened = openedInTurn(registry, database, ordered, { ...options, data: true });
  const parts = async function* (): AsyncGenerator<OutgoingPart> {
    for await (const each of opened) yield revPart(registry, database, each, options, false);
  };
  await sendParts(exchange, new MultipartWriter('mixed', exchange.runtime.randomHex(16)), parts(), {});
}

async function answerJson(exchange: Exchange, pieces: AsyncIterable<Bytes>): Promise<void> {
  if (exchange.method === 'HEAD') {
    exchange.jsonHead(200);
    return void exchange.response.end();
  }
  const ahead = await begun(pieces);
  exchange.jsonHead(200);
  let last: Bytes = noBytes;
  for await (const piece of ahead) {
    if (last !== '' && !(await writePiece(exchange, last))) return;
    last = piece;
  }
  exchange.endJson(asBytes(`${last}]\n`));
}

/** A JSON array without its end. */
async function* jsonPieces(
  registry: DatabaseRegistry,
  database: Database,
  opened: AsyncIterable<OpenedRev>,
  options: AttachmentOptions,
): AsyncGenerator<Bytes> {
  let text = '[';
  let separator = '';
  for await (const each of opened) {
    text += separator;
    separator = ',';
    if ('missing' in each) text += `{"missing":${quoteRev(each.missing)}}`;
    else {
      text += '{"ok":';
      const whole = revPieces(registry, database, each.ok, options);
      for await (const piece of typeof whole === 'string' ? [whole] : whole) {
        text += piece;
        if (text.length < pieceBytes) continue;
        yield asBytes(text);
        text = '';
      }
      text += '}';
    }
    if (text.length < pieceBytes) continue;
    yield asBytes(text);
    text = '';
  }
  yield asBytes(text);
}

const pieceBytes = 64 * 1024;
