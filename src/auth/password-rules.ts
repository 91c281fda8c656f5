import { badRequest, Refusal } from '../base/errors.js';
import { parseTerm, textOf } from '../config/erlang-term.js';

/** An expression that passwords must match, and what to say where one does not. */
export interface PasswordRule {
  pattern: RegExp;
  reason: string | undefined;
}

export const cannotHash = (): Refusal =>
  new Refusal('forbidden', 'Server cannot hash passwords at this time.');

/** Reads `["expression", {"expression", "reason"}]`. Rules that can't be read let no password pass. */
export function readPasswordRules(text: string): PasswordRule[] {
  if (text === '') return [];
  const list = parseTerm(text);
  if (list?.type !== 'list') throw cannotHash();
  return list.items.map((item) => {
    if (item.type === 'string') return { pattern: expression(item.text), reason: undefined };
    if (item.type !== 'tuple' || item.items.length !== 2) throw cannotHash();
    const [pattern, reason] = item.items;
    if (pattern?.type !== 'string' || reason?.type !== 'string') throw cannotHash();
    return { pattern: expression(pattern.text), reason: textOf(reason) };
  });
}

function expression(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch {
    throw cannotHash();
  }
}

export function checkPassword(password: string, rules: readonly PasswordRule[]): void {
  for (const { pattern, reason } of rules) {
    if (pattern.test(password)) continue;
    throw badRequest(`Password does not conform to requirements.${reason === undefined ? '' : ` ${reason}`}`);
  }
}
