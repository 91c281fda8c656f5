import type { Core } from './core.js';

/** What a caller is told of an exception: a name and a reason, which is nearly always text. */
export function makeFailure({
  isArray,
  describe,
  ownMember,
}: Core): (thrown: unknown, kind: string) => [string, unknown] {
  const text = (value: unknown): string => (typeof value === 'string' ? value : describe(value));

  /** Functions may choose by which name and reason they fail. */
  const chosen = (thrown: unknown): [string, unknown] | undefined => {
    if (isArray(thrown) && (thrown[0] === 'error' || thrown[0] === 'fatal'))
      return [text(thrown[1]), text(thrown[2])];
    const error = ownMember(thrown, 'error');
    const reason = ownMember(thrown, 'reason');
    return error === undefined || reason === undefined ? undefined : [text(error), text(reason)];
  };

  /** A validation function refuses by an object with one member. */
  const refusal = (thrown: unknown): [string, unknown] => {
    for (const name of ['forbidden', 'unauthorized']) {
      const reason = ownMember(thrown, name);
      if (reason !== undefined) return [name, reason];
    }
    if (thrown === null) return ['unknown_error', 'null'];
    const error = thrown as { name?: unknown; message?: unknown; stack?: unknown };
    if (typeof thrown === 'object' && error.stack !== undefined)
      return [text(error.name), text(error.message)];
    const other = chosen(thrown);
    if (other !== undefined) return other;
    if (typeof thrown !== 'object' || isArray(thrown)) return ['unknown_error', thrown];
    for (const name in thrown) {
      const reason = ownMember(thrown, name);
      return ['unknown_error', typeof reason === 'number' ? text(reason) : reason];
    }
    return ['unknown_error', text(thrown)];
  };

  return (thrown, kind) => {
    if (kind === 'validate_doc_update') return refusal(thrown);
    const stack =
      typeof thrown === 'object' && thrown !== null ? (thrown as { stack?: unknown }).stack : undefined;
    const trace = stack === undefined ? '' : ` \nstacktrace: ${text(stack)}`;
    return chosen(thrown) ?? ['render_error', `function raised error: ${describe(thrown)}${trace}`];
  };
}
