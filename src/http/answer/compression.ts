import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, createGzip } from 'node:zlib';
import type { Config } from '../../config/config.js';
import { headerOf } from '../request/header.js';
import { takesGzip } from '../request/negotiate.js';

/** Answers that are compressed at once; each takes some 300 KB. Further ones are sent as they are. */
const activeMax = 200;

/** For the size of an answer that is longer than what is read of it at once. */
export const streamedBytes = Number.MAX_SAFE_INTEGER;

/** Compresses large answers for clients that take them so. The work is done on threads of the pool, never on the serving one. */
export class Compression {
  #active = 0;

  constructor(private readonly config: Config) {}

  /** Whether answers with so many bytes are compressed for clients that take gzip. */
  concerns(bytes: number): boolean {
    return bytes >= this.config.number('tuffet/compress_bytes_min');
  }

  isWanted(request: IncomingMessage): boolean {
    return this.#active < activeMax && takesGzip(headerOf(request, 'accept-encoding'));
  }

  /** From here on, what is written to the response is compressed. Its head has been written. */
  begin(response: ServerResponse): void {
    this.#active++;
    response.once('close', () => this.#active--);
    compress(response);
  }
}

/** For answers that other clients get compressed. */
export const varying = { Vary: 'Accept-Encoding' };

/** A strong tag belongs to the plain bytes alone. */
export function compressedHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const { ETag: tag, ...others } = headers;
  const weak = typeof tag === 'string' ? { ETag: `W/${tag}` } : {};
  return { ...others, ...weak, 'Content-Encoding': 'gzip' };
}

function compress(response: ServerResponse): void {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const write = response.write.bind(response) as (chunk: Buffer) => boolean;
  const end = response.end.bind(response) as () => void;
  let isForwarded = false;
  gzip.on('data', (chunk: Buffer) => void (write(chunk) || gzip.pause()));
  gzip.on('end', () => end());
  gzip.on('error', () => response.destroy());
  // Writers wait for the response; that it has room again may mean the compressor, which must not go on by that.
  gzip.on('drain', () => {
    isForwarded = true;
    response.emit('drain');
    isForwarded = false;
  });
  response.on('drain', () => void (isForwarded || gzip.resume()));
  response.on('close', () => gzip.destroy());
  Object.assign(response, {
    write: (chunk: string | Buffer, encoding: BufferEncoding = 'utf8'): boolean =>
      gzip.write(chunk, encoding),
    end: (chunk?: string | Buffer, encoding: BufferEncoding = 'utf8'): ServerResponse => {
      if (chunk === undefined) gzip.end();
      else gzip.end(chunk, encoding);
      return response;
    },
  });
}
