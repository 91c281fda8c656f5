import type { Exchange } from '../exchange.js';

/** A browser that asks what a page may do is answered without a login: it sends none with that question. */
export function answerPreflight(exchange: Exchange): boolean {
  const { request, response, services } = exchange;
  if (request.method !== 'OPTIONS') return false;
  const headers = services.policy.cors?.preflight(request);
  if (headers === undefined) return false;
  exchange.head(204, headers);
  response.end();
  return true;
}
