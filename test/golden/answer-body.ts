import { createHash } from 'node:crypto';
import type { RawAnswer } from './send-step.js';

/** The body of an answer as a value: JSON parsed, multipart taken apart, binary content as its digest. */
export function answerBody({ headers, raw }: RawAnswer, method: string, lines: boolean): unknown {
  if (method === 'HEAD') return undefined;
  if (lines)
    return raw
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map(parsedOr);
  const type = headers['content-type'] ?? '';
  const boundary = boundaryOf(type);
  if (boundary !== undefined) return parseMultipart(raw, boundary);
  const text = raw.toString('utf8');
  if (/json|text\/plain/.test(type)) return parsedOr(text);
  if (raw.length === 0 || /^text\/|javascript|xml|svg|urlencoded/.test(type)) return text;
  return digestOf(raw);
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const digestOf = (raw: Buffer): { binary: number; md5: string } => ({
  binary: raw.length,
  md5: createHash('md5').update(raw).digest('base64'),
});

const boundaryOf = (type: string): string | undefined => /boundary="?([^";]+)"?/.exec(type)?.[1];

/** The order of parts counts; boundaries, the order of headers and white space don't. */
function parseMultipart(raw: Buffer, boundary: string): unknown[] {
  const escaped = boundary.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const delimiter = new RegExp(`(?:^|\\r\\n)--${escaped}(?:--)?[ \\t]*(?:\\r\\n|$)`);
  return raw
    .toString('latin1')
    .split(delimiter)
    .filter((part) => part !== '')
    .map(parsePart);
}

function parsePart(part: string): unknown {
  const headless = part.startsWith('\r\n');
  const cut = part.indexOf('\r\n\r\n');
  const headers = headless ? {} : parseHeaders(part.slice(0, Math.max(cut, 0)));
  const body = Buffer.from(headless ? part.slice(2) : part.slice(cut + 4), 'latin1');
  const type = headers['content-type'] ?? '';
  const inner = boundaryOf(type);
  if (inner !== undefined) {
    return {
      headers: { ...headers, 'content-type': type.split(';')[0] },
      parts: parseMultipart(body, inner),
    };
  }
  return { headers, body: partBody(body, type) };
}

function parseHeaders(head: string): Record<string, string> {
  const lines = head.split('\r\n').filter((line) => line !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

function partBody(body: Buffer, type: string): unknown {
  if (/json/.test(type)) {
    const value = parsedOr(body.toString('utf8'));
    if (typeof value !== 'string') return value;
  }
  const text = body.toString('latin1');
  return /[^\t\n\r\x20-\x7e]/.test(text) ? digestOf(body) : text;
}
