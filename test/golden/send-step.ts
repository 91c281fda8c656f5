import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { Step } from './scenario.js';
import { fill, type Variables } from './variables.js';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  raw: Buffer;
}

/** The server that scenarios are replayed against. */
export interface Target {
  url: string;
  /** `name:password` of a server admin. */
  credentials: string;
  agent: http.Agent;
  /** Sends in place of the agent, over another protocol. */
  send?: (request: OutgoingRequest) => Promise<RawAnswer>;
}

export interface OutgoingRequest {
  method: string;
  path: string;
  headers: OutgoingHttpHeaders;
  payload: Buffer | undefined;
}

const answerWithinMs = 20_000;

export function sendStep(target: Target, step: Step, variables: Variables): Promise<RawAnswer> {
  const [method = 'GET', ...rest] = fill(step.do ?? '', variables).split(' ');
  const payload = payloadOf(step, variables);
  const headers = headersOf(target, step, variables, payload);
  if (target.send !== undefined) return target.send({ method, path: rest.join(' '), headers, payload });
  const { hostname, port } = new URL(target.url);
  return new Promise((resolve, reject) => {
    const agent = step.for_ms === undefined ? target.agent : false;
    const options = { hostname, port, method, path: rest.join(' '), headers, agent };
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      const done = (): void =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          raw: Buffer.concat(chunks),
        });
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', done);
      if (step.for_ms === undefined) return;
      setTimeout(() => {
        done();
        request.destroy();
      }, step.for_ms);
    });
    request.on('error', reject);
    const timeoutMs = step.timeout_ms ?? answerWithinMs;
    request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer in ${timeoutMs} ms`)));
    request.end(payload);
  });
}

function payloadOf(step: Step, variables: Variables): Buffer | undefined {
  if (step.body !== undefined) return Buffer.from(JSON.stringify(fill(step.body, variables)));
  if (step.text !== undefined) return Buffer.from(fill(step.text, variables));
  return step.base64 === undefined ? undefined : Buffer.from(step.base64, 'base64');
}

function headersOf(
  target: Target,
  step: Step,
  variables: Variables,
  payload: Buffer | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { accept: 'application/json' };
  const as = step.as === undefined ? 'admin' : fill(step.as, variables);
  const credentials = as === 'admin' ? target.credentials : as;
  if (as !== 'anon') headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  if (step.body !== undefined) headers['content-type'] = 'application/json';
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = fill(value, variables);
  }
  if (payload !== undefined && headers['transfer-encoding'] === undefined) {
    headers['content-length'] = payload.length;
  }
  return headers;
}
