import { badRequest, RequestError } from '../base/errors.js';
import { passwordRules, type PasswordRule } from '../config/text-checks.js';

export const cannotHash = (): RequestError =>
  new RequestError('forbidden', 'Server cannot hash passwords at this time.');

/** Rules that can't be read let no password pass. */
export function readPasswordRules(text: string): PasswordRule[] {
  const rules = passwordRules(text);
  if (rules === undefined) throw cannotHash();
  return rules;
}

export function checkPassword(password: string, rules: readonly PasswordRule[]): void {
  for (const { pattern, reason } of rules) {
    if (pattern.test(password)) continue;
    throw badRequest(`Password does not conform to requirements.${reason === undefined ? '' : ` ${reason}`}`);
  }
}
