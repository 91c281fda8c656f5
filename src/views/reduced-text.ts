import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import { FunctionError } from '../base/errors.js';
import { ReduceFault } from '../indexes/reduce/fold.js';
import type { Reduced } from '../indexes/reduce/query-reduce.js';

/** The rows of reduced groups. */
export function reducedTexts(groups: readonly { keyText: Bytes }[], values: readonly Reduced[]): Bytes {
  return asBytes(groups.map(({ keyText }, i) => reducedText(keyText, values[i]!)).join(',\n'));
}

export function reducedText(keyText: Bytes, value: Reduced): Bytes {
  if (!(value instanceof ReduceFault)) return asBytes(`{"key":${keyText},"value":${value}}`);
  const { error, reason, causedBy } = value;
  if (error === 'invalid_value') throw new FunctionError('invalid_value', reason);
  const words = `"error":"${error}","reason":${toBytes(JSON.stringify(reason))}`;
  if (error === 'reduce_overflow_error') return asBytes(`{"key":${keyText},${words}}`);
  return asBytes(`{"key":${keyText},"value":{${words},"caused_by":${causedBy ?? asBytes('null')}}}`);
}
