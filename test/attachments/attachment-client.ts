import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http, { type IncomingHttpHeaders } from 'node:http';
import { randomNumbers } from '../../bench/documents.js';
import type { HttpClient } from '../support/http-client.js';

/** An answer whose body is bytes, exactly as they came: nothing is unpacked. */
export interface BinaryAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

export interface BinaryRequest {
  headers?: Record<string, string>;
  /** A list is sent in chunks, without a length beforehand. */
  body?: Buffer | string | readonly Buffer[];
}

const answerWithinMs = 20_000;

/** Sends bytes and gets bytes, over a connection of its own. */
export function sendBytes(
  client: HttpClient,
  method: string,
  path: string,
  { headers = {}, body }: BinaryRequest = {},
): Promise<BinaryAnswer> {
  const pieces = Array.isArray(body) ? (body as readonly Buffer[]) : undefined;
  const whole = pieces === undefined ? (body as Buffer | string | undefined) : undefined;
  const sent: http.OutgoingHttpHeaders = { accept: '*/*', ...headers };
  if (client.credentials !== null)
    sent['authorization'] ??= `Basic ${Buffer.from(client.credentials).toString('base64')}`;
  if (whole !== undefined) sent['content-length'] = Buffer.byteLength(whole);
  return new Promise((resolve, reject) => {
    // Not as one address, which would be tidied on the way: `..` is a name here.
    const where = { hostname: '127.0.0.1', port: client.port, path, method, headers: sent, agent: false };
    const request = http.request(where, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    request.on('error', reject);
    request.setTimeout(answerWithinMs, () => request.destroy(new Error(`${method} ${path}: no answer`)));
    for (const piece of pieces ?? []) request.write(piece);
    request.end(whole);
  });
}

export const getBytes = (
  client: HttpClient,
  path: string,
  headers: Record<string, string> = {},
): Promise<BinaryAnswer> => sendBytes(client, 'GET', path, { headers });

/** Puts an attachment that must be taken, and gives the document's new revision. */
export async function putBytes(
  client: HttpClient,
  path: string,
  body: BinaryRequest['body'],
  type = 'application/octet-stream',
): Promise<string> {
  const answer = await sendBytes(client, 'PUT', path, { headers: { 'content-type': type }, body: body! });
  assert.equal(answer.status, 201, answer.bytes.toString());
  return (JSON.parse(answer.bytes.toString()) as { rev: string }).rev;
}

/** Bytes that no compression makes smaller, always the same for a seed. */
export function noise(length: number, seed = 1): Buffer {
  const random = randomNumbers(seed);
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = random() * 256;
  return bytes;
}

export const md5 = (bytes: Buffer | string): string => createHash('md5').update(bytes).digest('base64');

/** Larger than what is kept in the documents' own store, so that it becomes a file. */
export const fileSize = 100_000;

/** One part of a multipart body. */
export interface TestPart {
  headers?: Record<string, string>;
  body: Buffer | string;
}

export const boundary = 'zebra-0123456789';
export const related = { 'content-type': `multipart/related; boundary="${boundary}"` };

/** A `multipart/related` body: the document, then its attachments. */
export function multipart(document: unknown, parts: readonly TestPart[]): Buffer {
  const json = typeof document === 'string' ? document : JSON.stringify(document);
  const all = [{ headers: { 'Content-Type': 'application/json' }, body: json }, ...parts];
  const chunks = all.flatMap(({ headers = {}, body }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return [`--${boundary}\r\n${lines.join('')}\r\n`, body, '\r\n'];
  });
  return Buffer.concat([...chunks, `--${boundary}--`].map((chunk) => Buffer.from(chunk)));
}
