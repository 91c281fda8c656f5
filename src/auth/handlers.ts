import { parseTerms, textOf } from '../config/erlang-term.js';

/** The ways to log in, by the names that `GET /_session` has for them. */
export type HandlerName = 'cookie' | 'default' | 'proxy' | 'jwt';

const handlerNames: readonly HandlerName[] = ['cookie', 'default', 'proxy', 'jwt'];
const standard: readonly HandlerName[] = ['cookie', 'default'];
const ending = '_authentication_handler';

/**
 * Reads `{chttpd_auth, cookie_authentication_handler}, …`. What is not known is left out and named, and where nothing
 * is left the usual ways stay open: whoever mistypes the option must be able to mend it.
 */
export function readHandlers(text: string): { handlers: readonly HandlerName[]; unknown: string[] } {
  const handlers: HandlerName[] = [];
  const unknown: string[] = [];
  for (const term of parseTerms(text) ?? []) {
    const name = textOf(term.type === 'tuple' ? term.items[1] : term) ?? '';
    const known = handlerNames.find((each) => name === each + ending);
    if (known === undefined) unknown.push(name);
    else if (!handlers.includes(known)) handlers.push(known);
  }
  return { handlers: handlers.length === 0 ? standard : handlers, unknown };
}
