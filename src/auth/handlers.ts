import { StartupError } from '../base/startup-error.js';
import type { Config } from '../config/config.js';
import { parseTerms, textOf } from '../config/erlang-term.js';
import { handlerOf, type handlerNames } from '../config/text-checks.js';

/** The ways to log in, by the names that `GET /_session` has for them. */
export type HandlerName = (typeof handlerNames)[number];

const standard: readonly HandlerName[] = ['cookie', 'default'];

/**
 * Reads `{chttpd_auth, cookie_authentication_handler}, …`. What is not known is left out and named, and where nothing
 * is left the usual ways stay open: an admin who mistypes the option must be able to correct it.
 */
export function readHandlers(text: string): { handlers: readonly HandlerName[]; unknown: string[] } {
  const handlers: HandlerName[] = [];
  const unknown: string[] = [];
  const terms = parseTerms(text);
  if (terms === undefined) unknown.push(text);
  for (const term of terms ?? []) {
    const known = handlerOf(term);
    const name = textOf(term.type === 'tuple' ? term.items[1] : term) ?? '';
    if (known === undefined) unknown.push(name);
    else if (!handlers.includes(known)) handlers.push(known);
  }
  return { handlers: handlers.length === 0 ? standard : handlers, unknown };
}

/** A slip of the pen must neither close a way in nor open one: what can't be read at all stops the start. */
export function checkHandlers(config: Config): void {
  const text = config.text('chttpd/authentication_handlers');
  if (parseTerms(text) !== undefined) return;
  throw new StartupError(
    `[chttpd] authentication_handlers can't be read: ${text}. It must be a list such as ` +
      '{chttpd_auth, cookie_authentication_handler}, {chttpd_auth, default_authentication_handler}.',
  );
}
