import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';

const operators = (
  '$lt $lte $eq $ne $gte $gt $in $nin $exists $type $size $mod $regex $beginsWith $all $elemMatch $allMatch ' +
  '$keyMapMatch $and $or $nor $not'
).split(' ');
const members = 'selector limit skip sort fields use_index conflicts update count bookmark'.split(' ');

/** Completes names inside quotes: members of a query, operators and the fields that documents have. */
export function queryCompletion(fields: () => readonly string[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/"[\w$.]*$/);
    if (word === null && !context.explicit) return null;
    const option = (kind: string, detail: string) => (label: string) => ({
      label: `"${label}"`,
      type: kind,
      detail,
    });
    return {
      from: word?.from ?? context.pos,
      to: context.state.sliceDoc(context.pos, context.pos + 1) === '"' ? context.pos + 1 : context.pos,
      options: [
        ...fields().map(option('property', 'field')),
        ...operators.map(option('keyword', 'operator')),
        ...members.map(option('variable', 'query')),
      ],
      validFor: /^"[\w$.]*"?$/,
    };
  };
}
