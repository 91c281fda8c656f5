import { asBytes, fromBytes, toBytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import type { Overlay } from '../storage/overlay.js';
import { prefixEnd, type Store } from '../storage/store.js';

/** Sets a value that all nodes of a cluster share. */
export interface ShareCommand {
  type: 'share';
  /** The key of the value, such as `config/admins/jane` or `node/tuffet@a`. */
  name: string;
  /** Null takes it back, on nodes that are away too, when they are back. */
  value: string | null;
}

const sharedPrefix = 'v';

/** How long the name of a value may be: stores take keys that are a little longer. */
export const sharedNameBytesMax = 1_900;

export function applyShare({ name, value }: ShareCommand, overlay: Overlay): undefined {
  const key = asBytes(sharedPrefix + toBytes(name));
  // A refusal, and no failure: a node that fails reads the same command again, for ever.
  if (key.length > sharedNameBytesMax + 1) throw badRequest('The name is too long.');
  overlay.put(key, toBytes(JSON.stringify({ value })));
}

/** All values whose keys begin so, by the rest of the key. */
export function readShared(store: Pick<Store, 'entries'>, prefix: string): Map<string, string | null> {
  const start = asBytes(sharedPrefix + toBytes(prefix));
  const found = new Map<string, string | null>();
  for (const { key, value } of store.entries({ start, end: prefixEnd(start) })) {
    const { value: text } = JSON.parse(fromBytes(value)) as Pick<ShareCommand, 'value'>;
    found.set(fromBytes(key.slice(start.length)), text);
  }
  return found;
}

/** Keys of what is shared. */
export const configPrefix = 'config/';
export const memberPrefix = 'node/';
/** The value of a node that does not count any more. */
export const removedMember = 'removed';
