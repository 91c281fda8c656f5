import type { OutgoingHttpHeaders } from 'node:http';
import type { Database } from '../../node/database.js';
import { readEncoded, readPlain } from '../../documents/attachments/read-attachment.js';
import type { Attachment } from '../../shard/content.js';
import { toBytes, type Bytes } from '../../base/bytes.js';
import type { Exchange } from '../exchange.js';
import { namesTag, takesGzip } from '../request/negotiate.js';
import { parseRanges, type ByteRange } from '../request/ranges.js';
import { begun, writeBuffers } from './stream.js';

/** Answers with the bytes of an attachment, or with the parts of them that are asked for. */
export async function answerAttachment(
  exchange: Exchange,
  database: Database,
  id: Bytes,
  attachment: Attachment,
): Promise<void> {
  const etag = `"${attachment.md5}"`;
  if (namesTag(exchange.header('if-none-match'), etag)) return exchange.empty(304, { ETag: etag });
  const ranges = parseRanges(exchange.header('range'), attachment.length);
  const headers = {
    'Content-Type': toBytes(attachment.type),
    ETag: etag,
    'Content-MD5': attachment.md5,
    'Accept-Ranges': 'bytes',
    // Attachments may be uploaded by any user: a browser must not guess another type than the stored one.
    'X-Content-Type-Options': 'nosniff',
    ...policyOf(exchange),
  };
  if (ranges === undefined) await sendWhole(exchange, database, id, attachment, headers);
  else if (ranges.length === 1) await sendRange(exchange, database, id, attachment, ranges[0]!, headers);
  else await sendRanges(exchange, database, id, attachment, ranges);
}

/** A browser that shows an attachment must not run it in the name of this server's users. */
function policyOf({ services: { config } }: Exchange): OutgoingHttpHeaders {
  const policy = config.boolean('csp/attachments_enable') ? config.text('csp/attachments_header_value') : '';
  return policy === '' ? {} : { 'Content-Security-Policy': policy };
}

async function sendWhole(
  exchange: Exchange,
  database: Database,
  id: Bytes,
  attachment: Attachment,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const { registry } = exchange.services;
  const packed = attachment.gzip && takesGzip(exchange.header('accept-encoding'));
  const length = packed ? attachment.storedLength : attachment.length;
  const encoding = packed ? { 'Content-Encoding': 'gzip' } : {};
  // Ranges of compressed attachments are served, but they cost the reading of all that comes before: CouchDB has none.
  const vary = attachment.gzip ? { Vary: 'Accept-Encoding', 'Accept-Ranges': 'none' } : {};
  const read = packed ? readEncoded : readPlain;
  await send(exchange, 200, { ...headers, ...encoding, ...vary, 'Content-Length': length }, () =>
    read(registry, database, id, attachment),
  );
}

async function sendRange(
  exchange: Exchange,
  database: Database,
  id: Bytes,
  attachment: Attachment,
  { start, end }: ByteRange,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  const range = {
    'Content-Range': `bytes ${start}-${end - 1}/${attachment.length}`,
    'Content-Length': end - start,
  };
  const open = (): Promise<AsyncIterable<Buffer>> =>
    readPlain(exchange.services.registry, database, id, attachment, start, end);
  await send(exchange, 206, { ...headers, ...range }, open);
}

async function sendRanges(
  exchange: Exchange,
  database: Database,
  id: Bytes,
  attachment: Attachment,
  ranges: readonly ByteRange[],
): Promise<void> {
  const boundary = exchange.runtime.randomHex(16);
  const { registry } = exchange.services;
  const type = toBytes(attachment.type);
  async function* parts(): AsyncGenerator<Buffer> {
    // Between two ranges there may be no other reader holding the bytes.
    const release = await registry.pins.hold(database, [attachment]);
    try {
      for (const { start, end } of ranges) {
        const head = `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: bytes ${start}-${end - 1}/${attachment.length}\r\n\r\n`;
        yield Buffer.from(head, 'latin1');
        yield* await readPlain(registry, database, id, attachment, start, end);
      }
      yield Buffer.from(`\r\n--${boundary}--`);
    } finally {
      release();
    }
  }
  const headers = { 'Content-Type': `multipart/byteranges; boundary="${boundary}"`, ...policyOf(exchange) };
  await send(exchange, 206, headers, () => begun(parts()));
}

async function send(
  exchange: Exchange,
  status: number,
  headers: OutgoingHttpHeaders,
  open: () => Promise<AsyncIterable<Buffer>>,
): Promise<void> {
  const { response } = exchange;
  if (exchange.method === 'HEAD') {
    exchange.head(status, headers);
    response.end();
    return;
  }
  const chunks = await open();
  exchange.head(status, headers);
  if (await writeBuffers(exchange, chunks)) response.end();
}
