import { badArgument } from '../refusals.js';
import { RequestError } from '../../base/errors.js';
import { PatternError } from './class-reader.js';
import { Matcher } from './matcher.js';
import { nativeFor } from './native.js';
import { parsePattern } from './parse-pattern.js';
import { compilePattern } from './program.js';

/** Whether a pattern is found somewhere in a text. Refuses one that can't be used, and takes no longer than it may. */
export function compileRegex(text: string): (value: string) => boolean {
  try {
    const pattern = parsePattern(text);
    const native = nativeFor(pattern);
    const matcher = new Matcher(compilePattern(pattern));
    if (native === undefined) return (value) => matcher.matches(value);
    const { expression, lengthMax } = native;
    return (value) => (value.length <= lengthMax ? expression.test(value) : matcher.matches(value));
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new RequestError('bad_arg', `${badArgument('$regex', text).reason}: ${error.message}`);
  }
}
