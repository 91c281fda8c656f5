import { randomBytes } from 'node:crypto';
import type { Bytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import { quoteRev } from '../cluster/doc-text.js';
import type { OpenedRev } from '../cluster/open-doc.js';
import { parseRev, type Rev } from '../revisions/rev.js';
import type { Exchange } from './exchange.js';
import { parseJsonText } from './query.js';

/** `open_revs`: a list of revisions, or all leaves, as a JSON array or as the parts of a multipart answer. */
export const answerOpenRevs = {
  parse(text: string): Rev[] | 'all' {
    return text === 'all' ? 'all' : parseRevs(parseJsonText(text));
  },

  send(exchange: Exchange, opened: readonly OpenedRev[]): void {
    const multipart = multipartType(exchange.header('accept') ?? '*/*');
    if (multipart === undefined) {
      exchange.text(200, `[${opened.map(arrayItem).join(',')}]`);
      return;
    }
    sendMultipart(exchange, multipart, opened.map((each) => ('ok' in each ? { json: each.ok } : { json: missing(each), error: true })));
  },
};

export function parseRevs(value: unknown): Rev[] {
  if (!Array.isArray(value)) throw badRequest('Invalid list of revisions');
  return value.map((each) => {
    if (typeof each !== 'string') throw badRequest('Invalid rev format');
    return parseRev(each);
  });
}

const arrayItem = (opened: OpenedRev): Bytes => ('ok' in opened ? `{"ok":${opened.ok}}` : missing(opened));
const missing = (opened: { missing: Rev }): Bytes => `{"missing":${quoteRev(opened.missing)}}`;

/** Whoever takes anything gets multipart here, as replicators expect. */
function multipartType(accept: string): string | undefined {
  if (accept.includes('application/json')) return undefined;
  return accept.includes('multipart/') || accept.includes('*/*') ? 'multipart/mixed' : undefined;
}

export interface JsonPart {
  json: Bytes;
  error?: boolean;
}

/** An answer whose parts are JSON. */
export function sendMultipart(exchange: Exchange, type: string, parts: readonly JsonPart[]): void {
  const boundary = randomBytes(16).toString('hex');
  let text = '';
  for (const { json, error } of parts) {
    text += `--${boundary}\r\nContent-Type: application/json${error ? '; error="true"' : ''}\r\n\r\n${json}\r\n`;
  }
  exchange.send(200, `${type}; boundary="${boundary}"`, `${text}--${boundary}--`);
}
