import type { Bytes } from '../base/bytes.js';
import type { StreamInfo } from '../log/stream.js';

/** Up to where a node has a stream, on disk or nearly so. */
export interface StreamClaim {
  epoch: string;
  /** Of the volume that is furthest. */
  seq: number;
  /** In hexadecimal digits. */
  hash: string;
  /** Whether it is known that all volumes have everything up to there. */
  is_whole: boolean;
  /** Whether it goes on reading. */
  follows: boolean;
  /** Why the node does not follow the stream any more, if the stream is at fault. */
  problem: string | null;
}

/** By the name of the stream; streams of which the node has nothing are absent. */
export type StreamClaims = Record<string, StreamClaim>;

export type NodeClaim = StreamClaim & { node: string };

export const hex = (bytes: Bytes): string => Buffer.from(bytes, 'latin1').toString('hex');

export const claimsOf = (stream: string, told: ReadonlyMap<string, StreamClaims>): NodeClaim[] =>
  [...told].flatMap(([node, claims]) => (claims[stream] === undefined ? [] : [{ node, ...claims[stream] }]));

const isSame = (one: StreamClaim, other: StreamClaim): boolean =>
  one.epoch === other.epoch && one.seq === other.seq && one.hash === other.hash;

/**
 * The longest history; of several, a whole one, and the one that most nodes have. A node that follows the stream will have all of
 * it.
 */
export function chooseSource(
  claims: readonly NodeClaim[],
  from: string | undefined,
  info: StreamInfo | undefined,
): NodeClaim | undefined {
  if (from !== undefined) return claims.find(({ node }) => node === from);
  const reach = ({ epoch, seq, follows }: NodeClaim): number =>
    follows && epoch === info?.epoch ? Math.max(seq, info.last) : seq;
  const shared = (claim: NodeClaim): number => claims.filter((each) => isSame(each, claim)).length;
  return [...claims].sort(
    (one, other) =>
      reach(other) - reach(one) ||
      Number(other.is_whole) - Number(one.is_whole) ||
      shared(other) - shared(one) ||
      (one.node < other.node ? -1 : 1),
  )[0];
}

/** `hash` is that of the source at the place of the other node, where it is known. */
export function losesOf(claim: NodeClaim, source: NodeClaim, hash: string): string {
  if (!source.is_whole)
    return `what ${source.node} has not: its volumes were not all at the same place when it stopped`;
  if (isSame(claim, source)) return 'nothing';
  if (claim.epoch === source.epoch && hash === claim.hash)
    return `nothing: it is ${source.seq - claim.seq} messages behind`;
  if (claim.epoch === source.epoch && hash !== '' && hash !== claim.hash)
    return `messages up to ${claim.seq} that are others there`;
  return `what it has up to message ${claim.seq} and ${source.node} has not, if anything`;
}
