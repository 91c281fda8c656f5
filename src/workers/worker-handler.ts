import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../base/errors.js';
import { fail } from '../http/answer/error-answer.js';
import { Admission } from '../http/connection/admission.js';
import type { RequestTaker } from '../http/connection/http-server.js';
import { forgetAnswer } from '../http/connection/pipelining.js';
import { arrivals, loggedFacts, type Arrival } from '../http/connection/arrival.js';
import type { HandlerOptions } from '../http/connection/request-handler.js';
import { Exchange } from '../http/exchange.js';
import type { UpgradeRequest } from '../http/feeds/socket-server.js';
import { emptyQuery } from '../http/request/query.js';
import type { Services } from '../http/services.js';
import type { Forwarder } from './forwarder.js';
import type { LocalReads } from './local-reads.js';
import type { Permits } from './permits.js';
import type { ReportBuffer } from './report-buffer.js';

/** Answers in a worker what it can answer by itself, and passes everything else on. */
export class WorkerHandler implements RequestTaker {
  readonly admission: Admission;
  readonly arrive: (request: IncomingMessage) => Arrival;

  constructor(
    private readonly services: Services,
    private readonly parts: {
      reads: LocalReads;
      permits: Permits;
      forwarder: Forwarder;
      reports: ReportBuffer;
    },
    private readonly options: HandlerOptions,
  ) {
    this.admission = new Admission(services.runtime);
    this.arrive = arrivals(services.runtime);
  }

  handle(
    request: IncomingMessage,
    response: ServerResponse,
    arrival = this.arrive(request),
    upgrade?: UpgradeRequest,
  ): void {
    const { reads, permits, forwarder } = this.parts;
    // What cannot be written to is closed by itself.
    response.on('error', () => undefined);
    const read = upgrade === undefined ? reads.readOf(request) : undefined;
    const exchange = read && reads.answer(request, response, arrival, read);
    response.once('close', () => {
      forgetAnswer(request, response);
      exchange?.finished();
      if (exchange !== undefined) this.#note(exchange, arrival);
      this.options.onEnd?.();
    });
    if (exchange !== undefined) return exchange.finished();
    try {
      forwarder.forward(request, response, upgrade, (status) => {
        if (read !== undefined && (status === 200 || status === 304)) permits.request(request, read.database);
      });
    } catch (error) {
      // An error that nobody catches would end this process, and with it the connections of other clients.
      const { message } = error as Error;
      this.#fail(request, response, arrival, new RequestError('bad_request', message));
    }
  }

  /** Answers a request by an error, without a look at it. */
  refuse(request: IncomingMessage, response: ServerResponse, refusal: RequestError): void {
    response.on('error', () => undefined);
    this.#fail(request, response, this.arrive(request), refusal);
  }

  #fail(request: IncomingMessage, response: ServerResponse, arrival: Arrival, refusal: RequestError): void {
    const method = request.method ?? 'GET';
    const exchange = new Exchange(this.services, request, response, method, [], '/', emptyQuery, arrival.id);
    response.once('close', () => this.#note(exchange, arrival));
    fail(exchange, refusal);
  }

  #note(exchange: Exchange, { started }: Arrival): void {
    this.parts.reports.note(loggedFacts(exchange, this.services.runtime.monotonicMs() - started));
  }
}
