import { asBytes } from '../../base/bytes.js';
import { badRequest } from '../../base/errors.js';
import type { Database } from '../../node/database.js';
import { quoteRev } from '../../shard/doc-text.js';
import type { OpenedRev } from '../../documents/open-doc.js';
import { compareRevs, formatRev, parseRev, type Rev } from '../../revisions/rev.js';
import { holding, revPart, revPieces, sendParts, type AttachmentOptions } from './document-answer.js';
import type { Exchange } from '../exchange.js';
import { MultipartWriter } from '../../base/multipart/multipart-writer.js';
import { takesMultipart } from '../request/negotiate.js';
import { parseJsonText } from '../request/query.js';
import { writePiece } from './stream.js';

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
function inOrder(opened: readonly OpenedRev[]): OpenedRev[] {
  const byRev = new Map(opened.map((each) => [formatRev(revOf(each)), each]));
  return [...byRev.values()].sort(
    (a, b) => Number('missing' in a) - Number('missing' in b) || compareRevs(revOf(a), revOf(b)),
  );
}

const revOf = (opened: OpenedRev): Rev => ('missing' in opened ? opened.missing : opened.ok.rev);

/** Answers with several revisions: as a JSON array, or as the parts of a multipart answer. */
export async function answerOpenRevs(
  exchange: Exchange,
  database: Database,
  found: readonly OpenedRev[],
  options: AttachmentOptions,
): Promise<void> {
  const { registry } = exchange.services;
  const opened = inOrder(found);
  const accept = exchange.header('accept') ?? '*/*';
  if (takesMultipart(accept, 'mixed')) {
    const parts = opened.map((each) => revPart(registry, database, each, options, false));
    await holding(registry, database, opened, { ...options, data: true }, () =>
      sendParts(exchange, new MultipartWriter('mixed', exchange.runtime.randomHex(16)), parts, {}),
    );
    return;
  }
  await holding(registry, database, opened, options, () => answerJson(exchange, database, opened, options));
}

async function answerJson(
  exchange: Exchange,
  database: Database,
  opened: readonly OpenedRev[],
  options: AttachmentOptions,
): Promise<void> {
  const { registry } = exchange.services;
  exchange.jsonHead(200);
  const { response } = exchange;
  if (exchange.method === 'HEAD') return void response.end();
  let text = '[';
  for (const [i, each] of opened.entries()) {
    if (i > 0) text += ',';
    if ('missing' in each) {
      text += `{"missing":${quoteRev(each.missing)}}`;
      continue;
    }
    text += '{"ok":';
    const whole = revPieces(registry, database, each.ok, options);
    if (typeof whole === 'string') text += whole;
    else
      for await (const piece of whole) {
        text += piece;
        if (text.length < pieceBytes) continue;
        if (!(await writePiece(exchange, asBytes(text)))) return;
        text = '';
      }
    text += '}';
    if (text.length < pieceBytes) continue;
    if (!(await writePiece(exchange, asBytes(text)))) return;
    text = '';
  }
  exchange.endJson(asBytes(`${text}]\n`));
}

const pieceBytes = 64 * 1024;
