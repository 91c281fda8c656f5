import { asBytes, fromBytes, toBytes } from '../base/bytes.js';
import { badRequest, RequestError } from '../base/errors.js';
import type { Overlay } from '../storage/overlay.js';
import { prefixEnd, type Store } from '../storage/store.js';

/**
 * Which nodes of a cluster host a stream, and so have the databases of it. A stream for which nothing is noted is hosted by all
 * nodes. A move begins with the nodes that are wanted. Those that are not hosts yet copy the databases, and each says when it
 * has them. When all have, they are the hosts, and what the others have is erased. So every host has the databases, whatever is
 * interrupted.
 */
export interface StreamPlacement {
  /** Raised each time other nodes are wanted. */
  version: number;
  /** These have the databases of the stream. */
  hosts: readonly string[];
  /** These are to be the hosts. */
  wanted: readonly string[];
  /** The host that does for the databases of the stream what is done once per cluster. */
  leader: string;
}

/** A step of the placement of a stream. It is refused where other nodes are wanted since the version that it names. */
export interface PlaceCommand {
  type: 'place';
  /** The number of the stream. */
  name: string;
  version: number;
  step: PlaceStep;
}

export type PlaceStep =
  /** Other nodes are to be the hosts. `hosts` has those that have the databases, where all nodes were hosts until now. */
  | { wanted: readonly string[]; hosts: readonly string[] }
  /** A node that is wanted has the databases now. */
  | { arrived: string }
  | { leader: string };

const prefix = asBytes('h');
const keyOf = (stream: string): ReturnType<typeof asBytes> => asBytes(prefix + toBytes(stream));

const everywhere: StreamPlacement = { version: 0, hosts: [], wanted: [], leader: '' };

/** The streams that are placed on some nodes. */
export function readPlacements(store: Pick<Store, 'entries'>): Map<number, StreamPlacement> {
  const found = new Map<number, StreamPlacement>();
  for (const { key, value } of store.entries({ start: prefix, end: prefixEnd(prefix) }))
    found.set(Number(fromBytes(key.slice(prefix.length))), JSON.parse(fromBytes(value)) as StreamPlacement);
  return found;
}

export function applyPlace({ name, version, step }: PlaceCommand, overlay: Overlay): undefined {
  const bytes = overlay.get(keyOf(name));
  const known = bytes === undefined ? everywhere : (JSON.parse(fromBytes(bytes)) as StreamPlacement);
  if (version !== known.version)
    throw new RequestError('conflict', `The placement of the stream ${name} was changed meanwhile.`);
  overlay.put(keyOf(name), toBytes(JSON.stringify(settled(next(known, step)))));
}

function next(known: StreamPlacement, step: PlaceStep): StreamPlacement {
  if ('leader' in step) return known.hosts.includes(step.leader) ? { ...known, leader: step.leader } : known;
  if ('arrived' in step) {
    const isAwaited = known.wanted.includes(step.arrived) && !known.hosts.includes(step.arrived);
    return isAwaited ? { ...known, hosts: [...known.hosts, step.arrived] } : known;
  }
  const hosts = known.version === 0 ? step.hosts : known.hosts;
  // Databases that no node has, or that none is to have, would be lost.
  if (step.wanted.length === 0 || hosts.length === 0) throw badRequest('A stream needs hosts.');
  return { ...known, version: known.version + 1, hosts, wanted: step.wanted };
}

function settled(placement: StreamPlacement): StreamPlacement {
  const { wanted, leader } = placement;
  const hosts = wanted.every((node) => placement.hosts.includes(node)) ? wanted : placement.hosts;
  return { ...placement, hosts, leader: hosts.includes(leader) ? leader : hosts[0]! };
}
