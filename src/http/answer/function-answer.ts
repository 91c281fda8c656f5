import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeaders } from 'node:http';
import { noBytes, toBytes, type Bytes } from '../../base/bytes.js';
import { FunctionError } from '../../base/errors.js';
import type { Exchange } from '../exchange.js';
import { usualSpelling } from '../request/function-request.js';

/** What a show or update function gave back. All of it is the function's choice, and none of it is trusted. */
export type FunctionAnswer = Readonly<Record<string, unknown>>;

/** Status, type and headers that a function asked for. */
export interface FunctionHead {
  status: number;
  type: string | undefined;
  headers: OutgoingHttpHeaders;
}

/**
 * Headers that functions can't set. Authors of functions administer a database; these headers apply to the connection, or
 * to the whole server in a browser: who is logged in, which pages may read answers, what is kept apart from what.
 */
const ownHeaders = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-length',
  'content-security-policy-report-only',
  'date',
  'keep-alive',
  'nel',
  'origin-agent-cluster',
  'permissions-policy',
  'proxy-authenticate',
  'proxy-connection',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'server',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
  'x-content-type-options',
  'x-frame-options',
  'x-couch-request-id',
  'x-request-id',
]);
const ownPrefixes = /^(access-control-|cross-origin-)/;

function isOwn(name: string): boolean {
  const lower = name.toLowerCase();
  return ownHeaders.has(lower) || ownPrefixes.test(lower);
}

const wrong = (what: string): FunctionError =>
  new FunctionError('render_error', `The function's answer has ${what}.`);

/** Reads the head of an answer; refuses what no answer can have. */
export function functionHead({ code, headers = {} }: FunctionAnswer, standard: number): FunctionHead {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : (code ?? standard);
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599)
    throw wrong('a `code` that is no status');
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers))
    throw wrong('`headers` that are no object');
  const given: OutgoingHttpHeaders = {};
  let type: string | undefined;
  for (const [name, value] of Object.entries(headers)) {
    const spelled = usualSpelling(name);
    const text = toBytes(typeof value === 'string' ? value : JSON.stringify(value));
    try {
      validateHeaderName(spelled);
      validateHeaderValue(spelled, text);
    } catch {
      throw wrong(`a header that cannot be sent: ${JSON.stringify(name)}`);
    }
    if (spelled === 'Content-Type') type = text;
    else if (spelled === 'Etag') given['ETag'] = text;
    else if (!isOwn(spelled)) given[spelled] = text;
  }
  return { status, type, headers: given };
}

/** Sends what a function gave back; the server's own headers stand over the function's. */
export function answerFunction(
  exchange: Exchange,
  answer: FunctionAnswer,
  standard: number,
  headers: OutgoingHttpHeaders,
): void {
  const head = functionHead(answer, standard);
  const { type, text } = bodyOf(answer);
  exchange.send(head.status, head.type ?? type, text, {
    ...head.headers,
    ...policyOf(exchange),
    ...headers,
  });
}

function bodyOf({ json, body, base64 }: FunctionAnswer): { type: string; text: Bytes } {
  if (json !== undefined) return { type: 'application/json', text: toBytes(JSON.stringify(json)) };
  if (base64 !== undefined) {
    if (typeof base64 !== 'string') throw wrong('a `base64` that is no string');
    const plain = base64.replace(/\s+/g, '');
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain) || plain.length % 4 !== 0) throw wrong('invalid `base64`');
    return { type: 'application/binary', text: Buffer.from(plain, 'base64').toString('latin1') };
  }
  if (body === undefined || body === null) return { type: 'application/json', text: noBytes };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { type: 'text/html; charset=utf-8', text: toBytes(text) };
}

/** A browser that shows what a function made must not run it in the name of this server's users. */
export function policyOf({ services: { config } }: Exchange): OutgoingHttpHeaders {
  const policy = config.boolean('csp/showlist_enable') ? config.text('csp/showlist_header_value') : '';
  return policy === '' ? {} : { 'Content-Security-Policy': policy };
}
