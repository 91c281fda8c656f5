import type { IncomingMessage } from 'node:http';
import { pipeline, Transform, type Duplex, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { badRequest, Refusal } from '../base/errors.js';
import { headerOf } from './header.js';

const gunzipAsync = promisify(gunzip);
const noBytes = Buffer.alloc(0);

/** The whole body of a request, unpacked. Refuses as soon as it is known to be larger than `bytesMax`. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw unsupported(encoding);
  }
  const bytes = await readRaw(request, bytesMax);
  if (encoding === 'identity') return bytes;
  try {
    return await gunzipAsync(bytes, { maxOutputLength: Math.min(bytesMax, unpackedBytesMax) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(bytesMax);
    throw badRequest('Request body is not properly gzipped.');
  }
}

/** The body as a stream, unpacked; ends with a refusal as soon as there is more of it than `bytesMax`. */
export function openBody(request: IncomingMessage, bytesMax: number): Readable {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') throw unsupported(encoding);
  const limit = (): Transform => {
    let length = 0;
    return new Transform({
      transform(chunk: Buffer, _, done) {
        length += chunk.length;
        if (length > bytesMax) done(tooLarge(bytesMax));
        else done(null, chunk);
      },
    });
  };
  if (encoding === 'identity') return compose(request, limit());
  return compose(request, limit(), createGunzip(), limit());
}

function compose(source: Readable, ...steps: Duplex[]): Readable {
  const last = steps.at(-1)!;
  pipeline([source, ...steps], (error) => {
    if (error) last.destroy(error);
  });
  return last;
}

/** What a client may be told of a body that could not be read. */
export function bodyProblem(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code.startsWith('Z_')) return badRequest('Request body is not properly gzipped.');
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET'
    ? badRequest('The request was broken off.')
    : error;
}

/** A packed body may hold this much at most, whatever larger plain bodies are allowed. */
const unpackedBytesMax = 256 * 1024 * 1024;

const unsupported = (encoding: string): Refusal =>
  new Refusal('bad_content_type', `${encoding} is not a supported content encoding.`);

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('too_large', `The request body is larger than ${bytesMax} bytes.`);

function readRaw(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const declared = Number(headerOf(request, 'content-length') ?? 0);
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytesMax) {
        request.removeAllListeners('data');
        reject(tooLarge(bytesMax));
      } else chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 1 ? chunks[0]! : length === 0 ? noBytes : Buffer.concat(chunks, length)),
    );
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(badRequest('The request was broken off.'));
    });
  });
}

/** Endpoints that take JSON by POST insist on its type being named. */
export function requireJson(request: IncomingMessage): void {
  const type = headerOf(request, 'content-type');
  if (type === 'application/json' || type?.startsWith('application/json;')) return;
  throw new Refusal('bad_content_type', 'Content-Type must be application/json');
}
