import type { IncomingMessage } from 'node:http';
import type { RequestFacts } from '../../base/logger.js';
import type { Runtime } from '../../base/runtime.js';
import type { Exchange } from '../exchange.js';
import { headerOf } from '../request/header.js';
import { isSentWhole } from '../answer/whole-answers.js';
import { pathOf } from '../request/request-facts.js';

/** What is noted of a request when it comes. */
export interface Arrival {
  id: string;
  /** By the monotonic clock. */
  started: number;
}

/** Ids that others may give to requests: short, and harmless in a log. */
const requestId = /^[\w.:-]{1,64}$/;

/** Notes when requests come, and names them. A proxy or client that has named one finds it in the log by that name. */
export function arrivals(runtime: Runtime): (request: IncomingMessage) => Arrival {
  const prefix = runtime.randomHex(4);
  let requests = 0;
  return (request) => {
    const given = headerOf(request, 'x-couch-request-id') ?? headerOf(request, 'x-request-id');
    const isUsable = given !== undefined && requestId.test(given);
    const id = isUsable ? given : `${prefix}${(++requests).toString(36)}`;
    return { id, started: runtime.monotonicMs() };
  };
}

/** What is logged of a request that took so long. */
export function loggedFacts({ request, response, user, id }: Exchange, ms: number): RequestFacts {
  return {
    id,
    method: request.method ?? 'GET',
    path: pathOf(request),
    status: response.statusCode,
    user: user.name,
    ms: Math.round(ms * 1000) / 1000,
    complete: isSentWhole(response),
  };
}
