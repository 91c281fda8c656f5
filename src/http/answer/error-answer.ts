import type { OutgoingHttpHeaders } from 'node:http';
import { toBytes } from '../../base/bytes.js';
import { CorruptRecord } from '../../base/corrupt-record.js';
import { damagedRecord } from '../../shard/damage.js';
import { RequestError, Unavailable } from '../../base/errors.js';
import { storageRefusal, StorageError } from '../../base/storage-errors.js';
import type { Exchange } from '../exchange.js';
import { endAfterBody } from '../connection/linger.js';
import { askToLogIn } from '../request/login-request.js';
import { hasBody, isBrokenOff, pathOf } from '../request/request-facts.js';
import { MethodNotAllowed } from '../routes/router.js';
import { refusalText, statusOf } from './statuses.js';

/** Answers a failure. Where that fails too, the connection is closed: callers cannot pass an error on. */
export function fail(exchange: Exchange, error: unknown): void {
  try {
    answerError(exchange, error);
  } catch (failure) {
    logFailure(exchange, failure);
    exchange.response.destroy();
  }
}

/** What is the server's own fault is logged whole, and not shown to the client. */
function answerError(exchange: Exchange, error: unknown): void {
  const { response, request } = exchange;
  const isExpected = (error instanceof RequestError && !(error instanceof StorageError)) || exchange.isCutOff;
  // The JSON stays incomplete, so that it can't be taken for the whole answer; its end tells why, as CouchDB's does.
  if (error instanceof RequestError && exchange.endsWithError && !response.destroyed)
    return void response.end(toBytes(`\n${refusalText(error)}\n`), 'latin1');
  if (isExpected && !response.destroyed && exchange.method === 'HEAD' && response.headersSent)
    return void response.end();
  if (response.headersSent || response.destroyed) {
    if (!isExpected && !isBrokenOff(error)) logFailure(exchange, error);
    response.destroy();
    return;
  }
  if (!isExpected) logFailure(exchange, error);
  const refusal =
    error instanceof RequestError ? error : (storageRefusal(error) ?? ownFault(exchange, error));
  const text = toBytes(refusalText(refusal));
  const asked = refusal.error === 'unauthorized' ? askToLogIn(exchange, refusal) : undefined;
  const status = asked?.status ?? statusOf(refusal);
  const headers = { ...headersOf(refusal), ...asked?.headers };
  if (request.complete || !hasBody(request)) return exchange.text(status, text, headers);
  // What the client is still sending is not used: the connection cannot be used again.
  headers.Connection = 'close';
  if (request.httpVersionMajor === 1 && refusal.error !== 'request_timeout' && !exchange.callback) {
    exchange.unended(status, text, headers);
    return endAfterBody(exchange);
  }
  exchange.text(status, text, headers);
  request.resume();
}

/** Reading and writing fail in every way while the stores are closed under a request. */
function ownFault({ isCutOff, request }: Exchange, error: unknown): RequestError {
  if (isCutOff) return new Unavailable('The server was restarted or stopped during the request.');
  if (error instanceof CorruptRecord) return damagedRecord(pathOf(request), error);
  return new RequestError('internal_server_error', 'The server failed; its log tells more.');
}

function headersOf(refusal: RequestError): OutgoingHttpHeaders {
  if (refusal instanceof MethodNotAllowed) return { Allow: refusal.allow };
  return refusal instanceof Unavailable ? { 'Retry-After': refusal.retryAfterSeconds } : {};
}

function logFailure({ id, method, request, services }: Exchange, error: unknown): void {
  services.logger.error({ err: error, id, method, path: pathOf(request) }, 'a request failed');
}
