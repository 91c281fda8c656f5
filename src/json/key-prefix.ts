import type { Bytes } from '../base/bytes.js';
import { numberBytes, rawTags, tags, wideFlag } from './order-key.js';

/**
 * The first `level` elements of the key of an array, without its end; undefined where it has fewer, or is no array. It is
 * the bound before the keys that share these elements, and with `ff` added the one behind them. Takes keys of both orders.
 */
export function keyPrefix(key: Bytes, level: number): Bytes | undefined {
  const tag = key.charCodeAt(0) & ~wideFlag;
  if (tag !== tags.array && tag !== rawTags.array) return undefined;
  let end = 1;
  for (let i = 0; i < level; i++) {
    if (key.charCodeAt(end) === 0) return undefined;
    end = skip(key, end);
  }
  return key.slice(0, end);
}

/** Where the value that begins at `from` ends. */
function skip(key: Bytes, from: number): number {
  let i = from;
  let depth = 0;
  do {
    switch (key.charCodeAt(i)) {
      case 0:
        depth--;
        i++;
        break;
      case tags.number:
      case rawTags.number:
        i += 1 + numberBytes;
        break;
      case tags.ascii:
      case tags.text:
      case rawTags.string:
        i = key.indexOf('\0', i) + 1;
        break;
      case tags.array:
      case tags.object:
      case rawTags.array:
      case rawTags.object:
        depth++;
        i++;
        break;
      default:
        i++;
    }
  } while (depth > 0);
  return i;
}
