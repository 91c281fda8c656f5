import { isIP } from 'node:net';
import { parseTerm, parseTerms, textOf, type Term } from './erlang-term.js';

/** What texts of certain options must be, beyond a pattern. */

/** The ways to log in, by the names that `GET /_session` has for them. */
export const handlerNames = ['cookie', 'default', 'proxy', 'jwt'] as const;

/** `{chttpd_auth, cookie_authentication_handler}, …`, with handlers that there are and nothing beside them. */
export function areHandlers(text: string): boolean {
  const terms = parseTerms(text);
  return terms !== undefined && terms.every((term) => handlerOf(term) !== undefined);
}

/** The way to log in that a term names; undefined where there is none of that name. */
export function handlerOf(term: Term): (typeof handlerNames)[number] | undefined {
  if (term.type === 'tuple' && term.items.length !== 2) return undefined;
  const name = textOf(term.type === 'tuple' ? term.items[1] : term);
  return handlerNames.find((each) => name === `${each}_authentication_handler`);
}

/** An expression that passwords must match, and what to say where one does not. */
export interface PasswordRule {
  pattern: RegExp;
  reason: string | undefined;
}

/** Reads `["expression", {"expression"}, {"expression", "reason"}]`; undefined where it can't be read. */
export function passwordRules(text: string): PasswordRule[] | undefined {
  if (text === '') return [];
  const list = parseTerm(text);
  if (list?.type !== 'list') return undefined;
  const rules = list.items.map((item) => {
    const [pattern, reason] = item.type === 'tuple' ? item.items : [item];
    if (pattern?.type !== 'string' || (item.type === 'tuple' && item.items.length > 2)) return undefined;
    return ruleOf(pattern.text, reason?.type === 'string' && reason.text !== '' ? reason.text : undefined);
  });
  return rules.includes(undefined) ? undefined : (rules as PasswordRule[]);
}

function ruleOf(expression: string, reason: string | undefined): PasswordRule | undefined {
  try {
    return { pattern: new RegExp(expression, 'u'), reason };
  } catch {
    return undefined;
  }
}

/** A name without a dot would be one of the local network at best, and is mostly a slip. */
export const isAddress = (text: string): boolean =>
  isIP(text) !== 0 || text === 'localhost' || /^(?=.*[a-z])[a-z\d-]+(\.[a-z\d-]+)+$/i.test(text);
