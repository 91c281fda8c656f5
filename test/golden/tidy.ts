import { answerBody } from './answer-body.js';
import { canonical } from './canonical.js';
import type { Step } from './scenario.js';
import type { RawAnswer } from './send-step.js';
import { changeAt, freshNames, type Variables } from './variables.js';

export interface Observed {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

const comparedHeaders = [
  'content-type',
  'etag',
  'location',
  'content-encoding',
  'content-md5',
  'content-range',
  'accept-ranges',
  'x-couch-id',
  'x-couch-update-newrev',
  'www-authenticate',
  'allow',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-max-age',
  'access-control-expose-headers',
  'set-cookie',
];

/** An answer with the headers that count. */
export function observe(answer: RawAnswer, method: string, lines = false): Observed {
  const headers: Record<string, string> = {};
  for (const name of comparedHeaders) {
    const value = answer.headers[name];
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join('\n') : value;
  }
  return { status: answer.status, headers, body: answerBody(answer, method, lines) };
}

/** The answer without what is different in each run, and with the step's own allowances made. */
export function tidy(observed: Observed, step: Step, variables: Variables): Observed {
  const tidied = tidyAny(observed, hider(variables)) as Observed;
  const { headers } = tidied;
  if (headers.etag !== undefined && !headers.etag.includes('<hash>')) headers.etag = '<etag>';
  if (headers['content-type'] !== undefined) headers['content-type'] = plainType(headers['content-type']);
  for (const path of step.any ?? []) changeAt(tidied, path, kindOf);
  for (const path of step.ignore ?? []) changeAt(tidied, path, () => '<ignored>');
  for (const path of step.unordered ?? []) changeAt(tidied, path, sorted);
  return tidied;
}

const blanks: readonly [pattern: RegExp, blank: string][] = [
  [/\b(\d+)-[0-9a-f]{32}\b/g, '$1-<hash>'],
  [/\b\d+-g1[A-Za-z0-9_-]{20,}/g, '<seq>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b[0-9a-f]{32}\b/g, '<hex32>'],
  [/shards\/[0-9a-f]{8}-[0-9a-f]{8}\/([^".]+)\.\d+/g, 'shards/<range>/$1.<suffix>'],
  [/\b[\w.-]+@(?:127\.0\.0\.1|localhost|nohost)\b/g, '<node>'],
  [/\b(Sun|Mon|Tue|Wed|Thu|Fri|Sat), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, '<date>'],
  [/AuthSession=[^;]+/g, 'AuthSession=<cookie>'],
];

function hider(variables: Variables): (text: string) => string {
  const hidden: [blank: string, value: string][] = freshNames(variables).flatMap(([name, value]) => [
    [`{${name}}`, value],
    [`{${name}}`, encodeURIComponent(value)],
  ]);
  hidden.push(['{base}', variables.base!]);
  return (text) => {
    const named = hidden.reduce((so_far, [blank, value]) => so_far.replaceAll(value, blank), text);
    return blanks.reduce((so_far, [pattern, blank]) => so_far.replace(pattern, blank), named);
  };
}

/** Sequences are opaque: only their presence counts. */
const sequenceName = /^(\w+_)?seq$/;

function tidyAny(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((each) => tidyAny(each, hide));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    const isSequence = sequenceName.test(name) && (typeof each === 'string' || typeof each === 'number');
    return [hide(name), isSequence ? '<seq>' : tidyAny(each, hide)];
  });
  return Object.fromEntries(entries);
}

const plainType = (type: string): string =>
  type.replace(/boundary="?[^";]+"?/, 'boundary=BOUNDARY').replace(/;\s*charset=utf-8/i, '');

function kindOf(value: unknown): string {
  if (value === null) return '<null>';
  return Array.isArray(value) ? '<array>' : `<${typeof value}>`;
}

const sorted = (value: unknown): unknown =>
  Array.isArray(value) ? [...value].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1)) : value;
