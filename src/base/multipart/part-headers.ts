import { badRequest } from '../errors.js';

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The lines of a part's header, without the empty one, as names in lower case and values. */
export function parsePartHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>();
  // A line that begins with white space continues the one before it.
  const text = bytes.toString('utf8').replace(/\r\n[ \t]+/g, ' ');
  for (const line of text.split('\r\n')) {
    if (line !== '') addHeader(headers, line);
  }
  return headers;
}

function addHeader(headers: Map<string, string>, line: string): void {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  if (colon < 0 || !namePattern.test(name)) throw badRequest('A multipart part has a malformed header line.');
  const value = line.slice(colon + 1).trim();
  if (/[\r\n\0]/.test(value))
    throw badRequest(`The ${name} header of a multipart part has a stray control character.`);
  const key = name.toLowerCase();
  if (headers.has(key)) throw badRequest(`A multipart part has the ${name} header twice.`);
  headers.set(key, value);
}
