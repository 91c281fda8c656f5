const json = 'application/json';
const plain = 'text/plain; charset=utf-8';

/**
 * The type of a JSON answer. Clients that ask for it, or for any type as `curl` does, get `text/plain`; all others get
 * `application/json`.
 */
export function contentTypeFor(accept: string | undefined): string {
  if (accept === undefined || accept === json) return json;
  if (accept === '*/*' || accept === 'text/plain') return plain;
  if (accept.includes(json) || accept.includes('application/*')) return json;
  return accept.includes('text/plain') ? plain : json;
}

/** Whether a header of the `If-None-Match` kind names this tag. A star names none, as in CouchDB. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
}

/** Whether an `Accept` header takes a multipart type, by its name or with whatever else it takes. */
export function takesMultipart(accept: string, subtype: 'mixed' | 'related'): boolean {
  return takesType(accept, `multipart/${subtype}`);
}

/** Whether an `Accept` header takes a type: by its name, with all of its kind, or with everything. */
export function takesType(accept: string, type: string): boolean {
  const kind = type.replace(/\/.*/, '/*');
  return accept.split(',').some((each) => {
    const [range = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) return false;
    return range === '*/*' || range === kind || range === type;
  });
}

/** Whether a client takes gzip: named, or covered by a star, and not with a weight of 0. */
export function takesGzip(header: string | undefined): boolean {
  const entries = (header ?? '').split(',').map((each) =>
    each
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  const entry = entries.find(([name]) => name === 'gzip') ?? entries.find(([name]) => name === '*');
  return entry !== undefined && !entry.slice(1).some((parameter) => /^q=0(\.0*)?$/.test(parameter));
}
