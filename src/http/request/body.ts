import type { IncomingMessage } from 'node:http';
import { pipeline, Transform, type Duplex, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Share } from '../../base/budget.js';
import { badRequest, RequestError } from '../../base/errors.js';
import { headerOf } from './header.js';
import { countBody, growBytes, noRoomForBody, uncountedBytes } from '../connection/memory-budgets.js';

const noBytes = Buffer.alloc(0);

export interface BodyReading {
  bytesMax: number;
  /** What the body takes of the memory; asked for only where it is not small. */
  share: () => Share;
  /** Called when the body is there, or is not going to be. */
  onEnd: () => void;
}

/**
 * The whole body of a request, unpacked. Refuses as soon as it is known to be larger than `bytesMax`. What is not small takes
 * its share of the memory first.
 */
export function readBody(request: IncomingMessage, reading: BodyReading): Promise<Buffer> {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  const declared = Number(headerOf(request, 'content-length') ?? 0);
  if (encoding === 'identity' && declared <= uncountedBytes.body && declared <= reading.bytesMax)
    return gather(request, reading);
  return readOther(request, encoding, declared, reading).finally(reading.onEnd);
}

/** A body that is large, packed or refused. */
async function readOther(
  request: IncomingMessage,
  encoding: string,
  declared: number,
  { bytesMax, share }: BodyReading,
): Promise<Buffer> {
  if (encoding !== 'identity' && encoding !== 'gzip') throw unsupported(encoding);
  if (declared > bytesMax) throw tooLarge();
  // It takes its share of the memory before it is read.
  if (declared > uncountedBytes.body && !(await share().grow(declared))) throw noRoomForBody();
  const bytes = await gather(request, { bytesMax, share, onEnd: () => undefined }, declared);
  return encoding === 'identity' ? bytes : await unpack(bytes, Math.min(bytesMax, unpackedBytesMax), share());
}

async function unpack(packed: Buffer, bytesMax: number, share: Share): Promise<Buffer> {
  // Gzip ends with the length of what it holds. It need not be true, so what comes out is counted too.
  const announced = packed.length < 18 ? 0 : Math.min(bytesMax, packed.readUInt32LE(packed.length - 4));
  const missing = packed.length + announced - share.bytes;
  if (announced > uncountedBytes.body && missing > 0 && !(await share.grow(missing))) throw noRoomForBody();
  const gunzip = createGunzip();
  gunzip.end(packed);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bytesMax) throw tooLarge();
      countBody(share, packed.length + length);
      chunks.push(chunk);
    }
  } catch (error) {
    throw bodyProblem(error);
  }
  return Buffer.concat(chunks, length);
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
        if (length > bytesMax) done(tooLarge());
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
  if (code.startsWith('Z_') || code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END')
    return badRequest('Request body is not properly gzipped.');
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' ? brokenOff() : error;
}

/** A packed body may hold this much at most, whatever larger plain bodies are allowed. */
const unpackedBytesMax = 256 * 1024 * 1024;

const unsupported = (encoding: string): RequestError =>
  new RequestError('bad_content_type', `${encoding} is not a supported content encoding.`);

const tooLarge = (): RequestError => new RequestError('too_large', 'the request entity is too large');

/** A large body of a known length is put together as it comes: at its end, that would keep others waiting. */
function gather(
  request: IncomingMessage,
  { bytesMax, share, onEnd }: BodyReading,
  declared = 0,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let whole = declared > uncountedBytes.body ? Buffer.allocUnsafe(declared) : undefined;
    const lengthMax = Math.min(bytesMax, whole?.length ?? Infinity);
    let length = 0;
    let isOver = false;
    const end = (): void => {
      if (!isOver) onEnd();
      isOver = true;
      // The listeners live as long as the connection has no other request.
      chunks.length = 0;
      whole = undefined;
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
    };
    const stop = (refusal: RequestError): void => {
      request.removeAllListeners('data');
      fail(refusal);
    };
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > lengthMax) return stop(tooLarge());
      if (whole === undefined) chunks.push(chunk);
      else chunk.copy(whole, length - chunk.length);
      if (length > uncountedBytes.body) countChunk(request, share(), length, stop);
    });
    request.on('end', () => {
      // The client is not waited for any more.
      if (length > uncountedBytes.body) share().settle();
      const bytes = whole?.subarray(0, length) ?? together(chunks, length);
      end();
      resolve(bytes);
    });
    request.on('error', fail);
    request.on('close', () => request.complete || fail(brokenOff()));
    if (request.destroyed && !request.complete) fail(brokenOff());
  });
}

function together(chunks: readonly Buffer[], length: number): Buffer {
  if (chunks.length === 1) return chunks[0]!;
  return length === 0 ? noBytes : Buffer.concat(chunks, length);
}

const brokenOff = (): RequestError => badRequest('The request was broken off.');

/** Takes room for a body that has come so far; where there is none, the rest waits. */
function countChunk(
  request: IncomingMessage,
  share: Share,
  length: number,
  stop: (refusal: RequestError) => void,
): void {
  share.moved();
  if (length <= share.bytes + uncountedBytes.body || share.tryGrow(growBytes)) return;
  request.pause();
  void Promise.resolve(share.grow(growBytes)).then((isTaken) => {
    if (isTaken) request.resume();
    else stop(noRoomForBody());
  });
}

/**
 * For requests that act without a body: a script may send any type or none, a page of another origin may not. Browsers name
 * the origin with every POST, and let pages send other types than JSON without asking.
 */
export function requireJsonOrNoOrigin(request: IncomingMessage): void {
  if (headerOf(request, 'origin') !== undefined) requireJson(request);
}

/** Endpoints that take JSON by POST insist on its type being named. */
export function requireJson(request: IncomingMessage): void {
  const type = headerOf(request, 'content-type');
  if (type === 'application/json' || type?.startsWith('application/json;')) return;
  throw new RequestError('bad_content_type', 'Content-Type must be application/json');
}
