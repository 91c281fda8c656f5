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
import type { LocalRead, LocalReads } from './local-reads.js';
import type { Permits } from './permits.js';
import type { ReportBuffer } from './report-buffer.js';

/** A request on its way to the owner of the data folder. */
interface Passed {
  request: IncomingMessage;
  response: ServerResponse;
  arrival: Arrival;
  upgrade: UpgradeRequest | undefined;
  /** What it asks for, where a worker can answer such requests. */
  read: LocalRead | undefined;
  /** Its body, where that was read already. */
  body: Buffer | undefined;
}

/** Statuses of requests of which the next may be answered here. */
const answered: ReadonlySet<number> = new Set([200, 206, 304]);

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
    // What cannot be written to is closed by itself.
    response.on('error', () => undefined);
    const read = upgrade === undefined ? this.parts.reads.readOf(request) : undefined;
    const { runtime } = this.services;
    const take = (): void => this.#take(request, response, arrival, upgrade, read);
    if (read !== undefined && runtime.isTurnFull) void runtime.nextTurn().then(take);
    else take();
  }

  #take(
    request: IncomingMessage,
    response: ServerResponse,
    arrival: Arrival,
    upgrade: UpgradeRequest | undefined,
    read: LocalRead | undefined,
  ): void {
    const { reads } = this.parts;
    const begun = read && reads.begin(request, response, arrival.id, read);
    const exchange = begun?.exchange;
    response.once('close', () => {
      forgetAnswer(request, response);
      exchange?.finished();
      if (exchange !== undefined && !exchange.isForwarded) this.#note(exchange, arrival);
      this.options.onEnd?.();
    });
    const passOn = (body?: Buffer): void => this.#passOn({ request, response, arrival, upgrade, read, body });
    if (begun === undefined) passOn();
    else reads.run(begun.exchange, begun.reader, passOn);
  }

  #passOn({ request, response, arrival, upgrade, read, body }: Passed): void {
    const { permits, forwarder } = this.parts;
    try {
      forwarder.forward({ request, response, upgrade, body }, (status) => {
        if (read !== undefined && answered.has(status)) permits.request(request, read.database);
      });
    } catch (error) {
      // An uncaught error would end this process, and with it the connections of other clients.
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
    this.parts.reports.note(
      loggedFacts(exchange, this.services.runtime.monotonicMs() - started),
      exchange.route,
    );
  }
}
