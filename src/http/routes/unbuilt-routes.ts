import { RequestError } from '../../base/errors.js';
import type { ServerRoute } from './route.js';

/** Endpoints of the interface that this version does not have: they say so, rather than that something is missing. */
function unbuilt(path: string, allow: string, what: string): ServerRoute {
  const refuse = (): never => {
    throw new RequestError('not_implemented', `This version has no ${what} yet.`);
  };
  const methods = Object.fromEntries(allow.split(',').map((method) => [method, refuse]));
  return { path, allow, access: path.startsWith('/{db}') ? 'listing' : 'server_admin', methods };
}

export const unbuiltServerRoutes: readonly ServerRoute[] = [
  unbuilt('/_reshard/*', 'GET,HEAD,PUT,POST,DELETE', 'resharding'),
];
