import { send, type RequestOptions } from './http.js';

/** Reads an answer up to a number of bytes; undefined where it is longer. Documents may be of any size. */
export async function boundedText(
  method: string,
  parts: readonly string[],
  options: RequestOptions,
  bytesMax: number,
): Promise<string | undefined> {
  const stop = new AbortController();
  options.signal?.addEventListener('abort', () => stop.abort(), { once: true });
  const response = await send(method, parts, { ...options, signal: stop.signal });
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body!) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      stop.abort();
      return undefined;
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The lines of an answer that comes bit by bit, such as a feed or an export. */
export async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body!) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
