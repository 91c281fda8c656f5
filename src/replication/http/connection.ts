import type { Runtime } from '../../base/runtime.js';
import type { Dispatcher } from 'undici';
import { backoffMs } from '../../base/backoff.js';
import { RequestError } from '../../base/errors.js';
import { parseInSteps } from '../../json/parse-steps.js';
import type { RemoteEndpoint } from '../endpoint.js';
import { PeerFailure } from '../peer.js';
import { makeDispatcher, type TlsOptions } from './dispatcher.js';
import type { ReplicatorCounts } from '../replicator-counts.js';
import { LoginSession } from './login-session.js';
import { failureText, membersOf } from './members.js';

export interface Call {
  method: 'GET' | 'PUT' | 'POST';
  /** Behind the database's address, escaped; empty for the database itself. */
  path: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Made again for each try. */
  body?: () => Dispatcher.DispatchOptions['body'];
}

export type Answer = Dispatcher.ResponseData;

export interface ConnectionOptions {
  runtime: Runtime;
  timeoutMs: number;
  retries: number;
  connections: number;
  tls: TlsOptions;
  userAgent: string;
  counts: ReplicatorCounts;
  /** Ends everything under way. */
  signal: AbortSignal;
}

/** Answers that say nothing of the request itself. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const backoff = { firstMs: 250, longestMs: 30_000 };
const answerBytesMax = 64 * 1024 * 1024;
/** From this size on an answer is parsed in slices. */
const largeAnswerBytes = 512 * 1024;

/** Requests to one database of another server, with its credentials, tried again while that may help. */
export class Connection {
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;
  readonly #path: string;
  readonly #login: LoginSession | undefined;

  constructor(
    private readonly endpoint: RemoteEndpoint,
    private readonly options: ConnectionOptions,
  ) {
    const url = new URL(endpoint.url);
    this.#origin = url.origin;
    this.#path = url.pathname;
    this.#dispatcher = makeDispatcher({ ...options, origin: url.origin, proxy: endpoint.proxy });
    this.#login =
      endpoint.login &&
      new LoginSession(endpoint.login, (body) => this.#session(body), endpoint.url, options.runtime);
  }

  get runtime(): Runtime {
    return this.options.runtime;
  }

  get address(): string {
    return this.endpoint.url;
  }

  /** The answer, whatever it says, once it is about the request itself. */
  async send(call: Call): Promise<Answer> {
    return await this.retrying(call, (answer) => Promise.resolve(answer));
  }

  /** The same with an answer that is read, or tried again where it broke off. */
  async retrying<Result>(call: Call, read: (answer: Answer) => Promise<Result>): Promise<Result> {
    for (let tries = 0; ; tries++) {
      let leastMs = 0;
      let problem: string;
      try {
        const answer = await this.#sendOnce(call);
        if (!passing.has(answer.statusCode)) return await read(answer);
        await answer.body.dump();
        problem = `was answered ${answer.statusCode}`;
        leastMs = retryAfterMs(answer);
      } catch (error) {
        if (error instanceof RequestError || error instanceof PeerFailure) throw error;
        this.options.signal.throwIfAborted();
        problem = `failed: ${messageOf(error)}`;
      }
      if (tries >= this.options.retries) throw this.failure(call, problem);
      await this.options.runtime.sleep(Math.max(leastMs, backoffMs(tries + 1, backoff)), this.options.signal);
    }
  }

  /** Waits before an answer that broke off is asked for again; throws where that was tried often enough, or would not help. */
  async pause(call: Call, tries: number, error: unknown): Promise<void> {
    if (error instanceof RequestError || error instanceof PeerFailure) throw error;
    this.options.signal.throwIfAborted();
    if (tries >= this.options.retries) throw this.failure(call, `broke off: ${messageOf(error)}`);
    await this.options.runtime.sleep(backoffMs(tries + 1, backoff), this.options.signal);
  }

  /** The value of a JSON answer, with its status. */
  async json(call: Call): Promise<{ status: number; value: unknown }> {
    return await this.retrying(call, async (answer) => ({
      status: answer.statusCode,
      value: await this.#readJson(answer),
    }));
  }

  failure({ method, path }: Pick<Call, 'method' | 'path'>, problem: string): PeerFailure {
    return new PeerFailure(`${method} ${this.address}${path} ${problem}`);
  }

  /** What an answer that is neither good nor expected stands for. */
  unexpected(
    call: Pick<Call, 'method' | 'path'>,
    status: number,
    value: unknown,
  ): RequestError | PeerFailure {
    if (status === 401)
      return new RequestError('unauthorized', `unauthorized to access or create database ${this.address}`);
    if (status === 403) return new RequestError('forbidden', this.address);
    const { error, reason } = membersOf(value);
    const said = typeof error === 'string' ? `: ${failureText(error, reason)}` : '';
    return this.failure(call, `was answered ${status}${said.slice(0, 500)}`);
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #sendOnce(call: Call): Promise<Answer> {
    for (let first = true; ; first = false) {
      const credentials = (await this.#login?.headers()) ?? {};
      const headers = { ...this.endpoint.headers, ...credentials, ...call.headers };
      const base = call.path === '' ? this.#path.slice(0, -1) : this.#path;
      const answer = await this.#dispatch(base + call.path, { ...call, headers });
      this.#login?.heard(cookiesOf(answer));
      if (answer.statusCode !== 401 || !first || !this.#login?.refused()) return answer;
      await answer.body.dump();
    }
  }

  async #dispatch(path: string, { method, query, headers, body }: Omit<Call, 'path'>): Promise<Answer> {
    const { timeoutMs, userAgent, counts } = this.options;
    counts.requests++;
    const sent = this.#dispatcher.request({
      origin: this.#origin,
      path: query === undefined ? path : `${path}?${new URLSearchParams(query).toString()}`,
      method,
      headers: { 'user-agent': userAgent, accept: 'application/json', ...headers },
      body: body?.() ?? null,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: this.options.signal,
    });
    try {
      const answer = await sent;
      counts.responses[passing.has(answer.statusCode) ? 'failure' : 'success']++;
      return answer;
    } catch (error) {
      counts.responses.failure++;
      throw error;
    }
  }

  async #session(body: string): ReturnType<ConstructorParameters<typeof LoginSession>[1]> {
    const path = this.#path.replace(/[^/]+\/$/, '_session');
    const headers = { ...this.endpoint.headers, 'content-type': 'application/json' };
    const answer = await this.#dispatch(path, { method: 'POST', headers, body: () => body });
    if (passing.has(answer.statusCode)) {
      await answer.body.dump();
      throw new Error(`the login was answered ${answer.statusCode}`);
    }
    const value = membersOf(await this.#readJson(answer).catch(() => undefined));
    return { status: answer.statusCode, cookies: cookiesOf(answer), error: value['error'] };
  }

  async #readJson(answer: Answer): Promise<unknown> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > answerBytesMax) throw new PeerFailure('An answer was larger than can be read.');
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks, length);
    try {
      if (length < largeAnswerBytes) return JSON.parse(bytes.toString());
      return await this.options.runtime.slice().finish(parseInSteps(bytes));
    } catch {
      if (answer.statusCode >= 400) return undefined;
      throw new Error('the answer was not JSON');
    }
  }
}

const cookiesOf = ({ headers }: Answer): string[] => [headers['set-cookie'] ?? []].flat();

function retryAfterMs({ headers }: Answer): number {
  const seconds = Number(headers['retry-after'] ?? 0);
  return Number.isNaN(seconds) ? 0 : Math.min(backoff.longestMs, seconds * 1000);
}

/** What an error says of itself and of what lies behind it. Never of credentials: addresses are made without them. */
function messageOf(error: unknown): string {
  const { code, message, cause } = error as { code?: string; message?: string; cause?: { message?: string } };
  return [code, message ?? String(error), cause?.message].filter((each) => each).join(': ');
}
