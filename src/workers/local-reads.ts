import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromBytes, type Bytes } from '../base/bytes.js';
import { RequestError } from '../base/errors.js';
import { fail } from '../http/answer/error-answer.js';
import { watchBodies, type BodyWatch } from '../http/connection/body-watch.js';
import { HeadChecks } from '../http/connection/head-checks.js';
import { headerOf } from '../http/request/header.js';
import { callbackOf } from '../http/request/jsonp.js';
import { splitPath } from '../http/request/path.js';
import { emptyQuery, Query } from '../http/request/query.js';
import { hasBody } from '../http/request/request-facts.js';
import { route } from '../http/routes/router.js';
import type { Services } from '../http/services.js';
import type { Permits, Reader } from './permits.js';
import { isReadable } from './readable.js';
import { ReadExchange } from './read-exchange.js';

/** A request that a worker may be able to answer. */
export interface LocalRead {
  parts: readonly Bytes[];
  query: Query;
  database: string;
}

/** Larger bodies are passed on without a look at them. */
const bodyBytesMax = 1024 * 1024;

/**
 * Answers requests that only read, in a worker, by the handlers that one process would answer them by. What fails before the
 * answer has begun (an index that is not up to date, parameters that are wrong, an answer that finds no room) is left to the
 * owner of the data folder, unless nothing is there to be read.
 */
export class LocalReads {
  readonly #heads: HeadChecks;
  readonly #bodies: BodyWatch;

  constructor(
    private readonly services: Services,
    private readonly permits: Permits,
  ) {
    const { config, runtime } = services;
    this.#heads = new HeadChecks(config.number('tuffet/headers_max'));
    this.#bodies = watchBodies(() => config.number('tuffet/body_idle_timeout_ms'), runtime);
  }

  /** What a request asks for, where a worker may be able to answer it. */
  readOf(request: IncomingMessage): LocalRead | undefined {
    const { method = '', url = '' } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    if ((!isRead && method !== 'POST') || url.charCodeAt(0) !== 0x2f) return undefined;
    const { policy } = this.services;
    try {
      if (isRead ? hasBody(request) : !isShort(request)) return undefined;
      this.#heads.check(request, policy.uriBytesMax);
      const mark = url.indexOf('?');
      const parts = splitPath(mark < 0 ? url : url.slice(0, mark), policy.plusIsSpace);
      const query = mark < 0 ? emptyQuery : new Query(url.slice(mark + 1));
      if (!isReadable(method, parts, query)) return undefined;
      return { parts, query, database: fromBytes(parts[0]!) };
    } catch {
      return undefined;
    }
  }

  /** The exchange of a request that may be answered here; undefined where it has to be passed on. */
  begin(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
    { parts, query, database }: LocalRead,
  ): { exchange: ReadExchange; reader: Reader } | undefined {
    const reader = this.permits.reader(request, database);
    if (reader === undefined) return undefined;
    const { method = 'GET', url = '/' } = request;
    const exchange = new ReadExchange(reader.services, request, response, method, parts, url, query, id);
    exchange.user = reader.user;
    return { exchange, reader };
  }

  /** Answers a request, or has it passed on. */
  run(exchange: ReadExchange, { database }: Reader, passOn: (body: Buffer | undefined) => void): void {
    const { request, services, query } = exchange;
    const end = (): void => {
      this.#bodies.delete(exchange);
      exchange.finished();
    };
    const failed = (error: unknown): void => {
      end();
      if (!exchange.canForward || isFinal(error)) return fail(exchange, error);
      exchange.isForwarded = true;
      passOn(exchange.taken);
    };
    try {
      if (services.policy.jsonp) exchange.callback = callbackOf(query);
      if (request.method === 'POST') this.#bodies.add(exchange);
      database.refresh();
      const work = route(exchange);
      if (work instanceof Promise) work.then(end, failed);
      else end();
    } catch (error) {
      failed(error);
    }
  }
}

/** What the owner could only say again: what is asked for is not there, or cannot be found in time. */
const isFinal = (error: unknown): boolean =>
  error instanceof RequestError && (error.error === 'not_found' || error.error === 'timeout');

/** Whether the body of a request is there as it is, and can be kept in case that the request has to be passed on. */
function isShort(request: IncomingMessage): boolean {
  const length = headerOf(request, 'content-length');
  return (
    length !== undefined &&
    Number(length) <= bodyBytesMax &&
    headerOf(request, 'content-encoding') === undefined &&
    headerOf(request, 'transfer-encoding') === undefined
  );
}
