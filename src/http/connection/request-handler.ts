import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromBytes } from '../../base/bytes.js';
import { Unavailable, type RequestError } from '../../base/errors.js';
import { fail } from '../answer/error-answer.js';
import { answerPreflight } from '../answer/preflight.js';
import { isSentWhole } from '../answer/whole-answers.js';
import { Exchange } from '../exchange.js';
import type { SocketServer, UpgradeRequest } from '../feeds/socket-server.js';
import { callbackOf } from '../request/jsonp.js';
import { checkLogin, login } from '../request/login.js';
import { splitPath, targetOf } from '../request/path.js';
import { emptyQuery, Query } from '../request/query.js';
import { whenFresh } from '../request/freshness.js';
import { needsStores } from '../request/needs-stores.js';
import { hasBody, isBrokenOff, methodOf, namesMovable } from '../request/request-facts.js';
import { runRoute } from '../routes/run-route.js';
import type { Services } from '../services.js';
import { Admission } from './admission.js';
import { arrivals, loggedFacts, type Arrival } from './arrival.js';
import { watchBodies, type BodyWatch } from './body-watch.js';
import { forward } from './forward.js';
import { HeadChecks } from './head-checks.js';
import { forgetAnswer } from './pipelining.js';

export interface HandlerOptions {
  sockets?: Pick<SocketServer, 'accept'>;
  /** Called when an answer has left, or its client has. */
  onEnd?: () => void;
}

/** Answers each request once, whatever goes wrong. It needs no connection: any pair of request and response will do. */
export class RequestHandler {
  readonly #heads: HeadChecks;
  readonly #bodies: BodyWatch;
  /** An answer that cannot be written is closed by itself; without a listener Node would end the process. */
  readonly #onResponseError = (error: unknown): void => {
    if (!isBrokenOff(error)) this.services.logger.error({ err: error }, 'writing an answer failed');
  };
  /** Lets requests in. */
  readonly admission: Admission;
  /** Called with each request when it comes. */
  readonly arrive: (request: IncomingMessage) => Arrival;

  constructor(
    private readonly services: Services,
    private readonly options: HandlerOptions = {},
  ) {
    const { config, runtime } = services;
    this.arrive = arrivals(runtime);
    this.admission = new Admission(runtime);
    this.#heads = new HeadChecks(config.number('tuffet/headers_max'));
    this.#bodies = watchBodies(() => config.number('tuffet/body_idle_timeout_ms'), runtime);
  }

  handle(
    request: IncomingMessage,
    response: ServerResponse,
    arrival = this.arrive(request),
    upgrade?: UpgradeRequest,
  ): void {
    const { opening } = this.admission;
    if (opening !== undefined && this.#mayWait(request)) {
      return void opening.then((isOpen) => {
        if (response.destroyed) return;
        if (isOpen) this.handle(request, response, arrival, upgrade);
        else this.refuse(request, response, new Unavailable('The server is restarting.'));
      });
    }
    let exchange: Exchange;
    try {
      exchange = this.#exchange(request, response, arrival.id);
    } catch (error) {
      exchange = this.#emptyExchange(request, response, arrival.id);
      this.#begin(exchange, arrival, upgrade === undefined);
      return fail(exchange, error);
    }
    this.#begin(exchange, arrival, upgrade === undefined);
    try {
      if (hasBody(request)) this.#bodies.add(exchange);
      if (answerPreflight(exchange)) return;
      if (upgrade !== undefined) {
        exchange.upgrade = (open) => this.options.sockets?.accept(upgrade, response, open);
        exchange.tunnel = upgrade;
      }
      const current = whenFresh(exchange);
      if (current === undefined) this.#admit(exchange);
      else current.then(() => this.#admit(exchange)).catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  #mayWait(request: IncomingMessage): boolean {
    const { cluster } = this.services;
    return cluster === undefined || needsStores(request, cluster.rejoining.offered !== undefined);
  }

  /** Watches an answer for its end. A WebSocket stays open as long as its client wants: it is not counted. */
  #begin(exchange: Exchange, arrival: Arrival, isCounted: boolean): void {
    const { request, response } = exchange;
    if (isCounted) this.admission.enter();
    response.on('error', this.#onResponseError);
    response.on('close', () => {
      if (isCounted) this.admission.leave();
      this.#bodies.delete(exchange);
      exchange.finished();
      forgetAnswer(request, response);
      this.#log(exchange, arrival);
    });
  }

  /** Answers a request by an error, without a look at it. */
  refuse(request: IncomingMessage, response: ServerResponse, refusal: RequestError): void {
    const arrival = this.arrive(request);
    const exchange = this.#emptyExchange(request, response, arrival.id);
    response.on('error', this.#onResponseError);
    response.on('close', () => this.#log(exchange, arrival));
    fail(exchange, refusal);
  }

  #emptyExchange(request: IncomingMessage, response: ServerResponse, id: string): Exchange {
    return new Exchange(this.services, request, response, request.method ?? 'GET', [], '/', emptyQuery, id);
  }

  #exchange(request: IncomingMessage, response: ServerResponse, id: string): Exchange {
    const { policy } = this.services;
    this.#heads.check(request, policy.uriBytesMax);
    const method = methodOf(request);
    const url = targetOf(request.url ?? '/', method);
    const mark = url.indexOf('?');
    const query = mark < 0 ? emptyQuery : new Query(url.slice(mark + 1));
    const parts = splitPath(mark < 0 ? url : url.slice(0, mark), policy.plusIsSpace);
    const exchange = new Exchange(this.services, request, response, method, parts, url, query, id);
    if (policy.jsonp) exchange.callback = callbackOf(query);
    return exchange;
  }

  #admit(exchange: Exchange): void {
    if (forward(exchange)) return;
    this.#useStream(exchange);
    const identity = login(exchange);
    if (identity instanceof Promise)
      identity.then((known) => this.#serve(exchange, known)).catch((error: unknown) => fail(exchange, error));
    else this.#serve(exchange, identity);
  }

  /** What this node has of a stream stays as long as a request uses it. Feeds are ended, wherever they are. */
  #useStream({ services, parts, response, tunnel }: Exchange): void {
    const { cluster, registry } = services;
    // Where the client has gone already, nothing tells the end of it.
    if (cluster === undefined || tunnel !== undefined || response.closed) return;
    // Nodes ask each other for what is not in databases while the stores are closed.
    if (!namesMovable(parts)) return;
    const stream = registry.record(fromBytes(parts[0]!))?.stream;
    if (stream !== undefined) response.once('close', cluster.hosting.uses.begin(stream));
  }

  #serve(exchange: Exchange, identity: Exchange['identity']): void {
    exchange.identify(identity);
    checkLogin(exchange, exchange.user);
    runRoute(exchange);
  }

  #log(exchange: Exchange, { started }: Arrival): void {
    this.options.onEnd?.();
    const { logger, metrics, runtime } = this.services;
    const { request, response } = exchange;
    const ms = runtime.monotonicMs() - started;
    metrics.request(request.method ?? 'GET', response.statusCode, ms, exchange.route, isSentWhole(response));
    if (logger.logsRequests) logger.request(loggedFacts(exchange, ms));
  }
}
