import { asBytes, fromBytes, toBytes } from '../base/bytes.js';
import type { Overlay } from '../storage/overlay.js';
import type { Store } from '../storage/store.js';

/** Which node of a cluster does what is done once per cluster. */
export interface Lease {
  node: string;
  /** Increases with each node that gets it, and each time one keeps it. */
  term: number;
}

/**
 * A node asks to be the owner of what is done once per cluster, or to remain it. The first one in the log that asks for a
 * term gets it.
 */
export interface LeaseCommand {
  type: 'lease';
  /** The name of the node. */
  name: string;
  term: number;
}

const leaseKey = asBytes('o');

export function readLease(source: Pick<Store, 'get'>): Lease {
  const bytes = source.get(leaseKey);
  return bytes === undefined ? { node: '', term: 0 } : (JSON.parse(fromBytes(bytes)) as Lease);
}

/** Gives who has the lease then. */
export function applyLease({ name, term }: LeaseCommand, overlay: Overlay): Lease {
  const known = readLease(overlay);
  if (term !== known.term + 1) return known;
  const next = { node: name, term };
  overlay.put(leaseKey, toBytes(JSON.stringify(next)));
  return next;
}
