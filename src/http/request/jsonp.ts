import { badRequest } from '../../base/errors.js';
import type { Query } from './query.js';

export const jsonpType = 'application/javascript';

/** The function that a client wants its JSON handed to, or undefined. */
export function callbackOf(query: Query): string | undefined {
  const name = query.get('callback');
  if (name === undefined) return undefined;
  if (!/^[\w$.[\]]+$/.test(name)) throw badRequest('invalid_callback');
  return name;
}

/** The comment comes first so that the client, which chooses the name, does not control the first bytes of the answer. */
export const jsonpOpening = (callback: string): string => `/* Tuffet */${callback}(`;
export const jsonpClosing = ');\n';
