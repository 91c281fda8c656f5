import type { Identity } from '../../auth/authenticator.js';
import type { UserContext } from '../../base/user-context.js';
import { RequestError } from '../../base/errors.js';
import { decodeUser, userHeader } from '../../cluster/blob-exchange.js';
import type { Exchange } from '../exchange.js';
import { isFromNode } from './from-node.js';

/** What nodes of a cluster ask each other. */
const ofNodes: ReadonlySet<string> = new Set([
  '_cluster_blobs',
  '_cluster_copy',
  '_cluster_places',
  '_cluster_recover',
]);

/** Who is asking, by the credentials of the request. Refuses wrong ones. */
export function login(exchange: Exchange): Identity | Promise<Identity> {
  const { cluster } = exchange.services;
  const user = cluster === undefined ? undefined : exchange.header(userHeader);
  // Another node has asked for the login, or does what its own replications may.
  if (user !== undefined && isFromNode(exchange, cluster!))
    return { user: decodeUser(user), handler: undefined };
  return exchange.services.authenticator.authenticate(exchange);
}

/** Refuses anonymous users where the configuration wants none; they may log in. */
export function checkLogin(
  { services: { config }, parts, method }: Pick<Exchange, 'services' | 'parts' | 'method'>,
  user: UserContext,
): void {
  if (user.name !== null || (parts[0] === '_session' && method === 'POST')) return;
  const exceptUp = config.boolean('chttpd/require_valid_user_except_for_up');
  if (!exceptUp && !config.boolean('chttpd/require_valid_user')) return;
  if (exceptUp && parts[0] === '_up') return;
  // Nodes of a cluster have its secret in place of a login.
  if (ofNodes.has(parts[0] ?? '')) return;
  throw new RequestError('unauthorized', 'Authentication required.');
}

/** The same once more, for what lasts: an account may be gone by now, or have other rights. */
export async function reauthenticate(exchange: Exchange): Promise<UserContext> {
  const { user } = await login(exchange);
  checkLogin(exchange, user);
  return user;
}
