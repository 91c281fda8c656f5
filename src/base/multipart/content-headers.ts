import { badRequest } from '../errors.js';

/** RFC 2046 has 70; some clients don't count. */
const boundaryLengthMax = 200;

const parameterPattern = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

/** A parameter of a header such as `multipart/related; boundary="abc"`, without its quotes. */
function parameterOf(header: string, name: string): string | undefined {
  for (const [, key, quoted, token] of header.matchAll(parameterPattern)) {
    if (key!.toLowerCase() !== name) continue;
    // Only what must be escaped is taken for escaped: some clients put names between quotes just as they are.
    return quoted === undefined ? token : quoted.replace(/\\(["\\])/g, '$1');
  }
  return undefined;
}

/** The boundary a `Content-Type` of the multipart kind names. */
export function boundaryOf(contentType: string | undefined): string {
  if (!/^\s*multipart\//i.test(contentType ?? '')) throw badRequest('The content type is not multipart.');
  const boundary = parameterOf(contentType!, 'boundary') ?? '';
  if (boundary === '') throw badRequest('The multipart content type names no boundary.');
  if (boundary.length > boundaryLengthMax) {
    throw badRequest(`The multipart boundary is longer than ${boundaryLengthMax} characters.`);
  }
  return boundary;
}

/** The name a part gives its content, if any. */
export function filenameOf(headers: ReadonlyMap<string, string>): string | undefined {
  const disposition = headers.get('content-disposition');
  return disposition === undefined ? undefined : parameterOf(disposition, 'filename');
}

/** The name of the field that a part of a form fills, if any. */
export function fieldOf(headers: ReadonlyMap<string, string>): string | undefined {
  const disposition = headers.get('content-disposition');
  return disposition === undefined ? undefined : parameterOf(disposition, 'name');
}

/** Whether a part may be the one of that name: it has none, or this one. CouchDB escapes nothing between the quotes. */
export function mayBeNamed(headers: ReadonlyMap<string, string>, name: string): boolean {
  const filename = filenameOf(headers);
  return (
    filename === undefined ||
    filename === name ||
    headers.get('content-disposition')!.endsWith(`filename="${name}"`)
  );
}

/** The `Content-Disposition` of an attachment. */
export function attachmentDisposition(filename: string): string {
  return `attachment; filename="${filename.replace(/["\\]/g, '\\$&')}"`;
}
