import type { Config } from '../../config/config.js';
import { parseError } from './parameters.js';

/** Holds a request for rows against the most that the configuration allows. */
export function limitRows<Request extends { readonly limit: number; readonly partition?: unknown }>(
  config: Config,
  request: Request,
): Request {
  const most = config.number(
    request.partition === undefined
      ? 'query_server_config/query_limit'
      : 'query_server_config/partition_query_limit',
  );
  if (most === Infinity) return request;
  if (request.limit === Infinity) (request as { limit: number }).limit = most;
  if (request.limit > most) throw parseError(`Limit is too large, must not exceed ${most}`);
  return request;
}
