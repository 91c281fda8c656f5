import { badArgument } from './refusals.js';

/** Refuses a pattern that can't be used. */
export function checkRegex(pattern: string): void {
  toRegExp(pattern);
}

/** Whether a pattern is found somewhere in a text. */
export function compileRegex(pattern: string): (text: string) => boolean {
  const regex = toRegExp(pattern);
  return (text) => regex.test(text);
}

function toRegExp(pattern: string): RegExp {
  const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?([^]*)$/.exec(pattern)!;
  try {
    return new RegExp(rest, `u${flags}`);
  } catch {
    throw badArgument('$regex', pattern);
  }
}
