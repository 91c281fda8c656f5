import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromBytes, type Bytes } from '../base/bytes.js';
import { HeadChecks } from '../http/connection/head-checks.js';
import type { Arrival } from '../http/connection/arrival.js';
import { Exchange } from '../http/exchange.js';
import { splitPath } from '../http/request/path.js';
import { emptyQuery } from '../http/request/query.js';
import { hasBody } from '../http/request/request-facts.js';
import { documentRoute } from '../http/routes/document-routes.js';
import type { Services } from '../http/services.js';
import type { Permits } from './permits.js';

/** A request for the winning revision of a document. */
export interface DocumentRead {
  parts: readonly [Bytes, Bytes];
  database: string;
}

const underscore = 0x5f;

/**
 * Answers reads of documents from the volumes, in a worker. Everything that is not plain success (a document that is not
 * there, a record that is damaged, an answer that finds no room) is left to the owner of the data folder: there is one place
 * that words refusals.
 */
export class LocalReads {
  readonly #heads: HeadChecks;

  constructor(
    private readonly services: Services,
    private readonly permits: Permits,
  ) {
    this.#heads = new HeadChecks(services.config.number('tuffet/headers_max'));
  }

  /** The document that a request asks for, where that is all it asks for. */
  readOf(request: IncomingMessage): DocumentRead | undefined {
    const { method, url = '' } = request;
    if ((method !== 'GET' && method !== 'HEAD') || url.charCodeAt(0) !== 0x2f || url.includes('?'))
      return undefined;
    const { policy } = this.services;
    try {
      this.#heads.check(request, policy.uriBytesMax);
      const [first, second, ...others] = splitPath(url, policy.plusIsSpace);
      if (first === undefined || second === undefined || others.length > 0 || hasBody(request))
        return undefined;
      if (first.charCodeAt(0) === underscore || second.charCodeAt(0) === underscore) return undefined;
      return { parts: [first, second], database: fromBytes(first) };
    } catch {
      return undefined;
    }
  }

  /** The exchange that has been answered; undefined where nothing was, and the request has to be passed on. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    { id }: Arrival,
    { parts, database: name }: DocumentRead,
  ): Exchange | undefined {
    const reader = this.permits.reader(request, name);
    if (reader === undefined) return undefined;
    const url = request.url!;
    const exchange = new Exchange(
      this.services,
      request,
      response,
      request.method!,
      parts,
      url,
      emptyQuery,
      id,
    );
    exchange.user = reader.user;
    exchange.route = documentRoute;
    try {
      reader.refresh();
      reader.database.checkPlace(parts[1]);
      void documentRoute.methods['GET']!(exchange, reader.database, parts[1]);
    } catch {
      if (!response.headersSent) return undefined;
      response.destroy();
    }
    return exchange;
  }
}
