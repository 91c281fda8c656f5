import { asBytes, ByteReader, noBytes, u32, varint, type Bytes } from '../base/bytes.js';
import { badRequest } from '../base/errors.js';
import type { Database } from './database.js';

/**
 * For each shard, by its number, the sequence of the last change that has been seen: a place between two changes. Of a shard
 * that was split since, the targets stand where it stood; `followPositions` makes such a place one of the shards there are.
 */
export type Positions = readonly number[];

const version = 2;
/** Sequences of shards have three bytes each, or six where one of them is too large for that. */
const narrow = 3;
const wide = 6;
const narrowMax = 2 ** 24;

/**
 * Writes places as sequences for clients: `N-g1` and an opaque text. `N` is the sum of the shards' sequences. All that
 * is the same from row to row is written once; then every shard's sequence is four or eight characters, and as long as
 * one shard moves, all around it stays. `docs/formats/sequences.md` describes it.
 */
export class SequenceWriter {
  #head: Bytes = noBytes;
  #width = narrow;
  /** What a token says of the database and its shards. */
  readonly #origin: Bytes;
  readonly #seqs: number[];
  readonly #texts: Bytes[] = [];
  #total = 0;
  /** The shard that moved last, and what stands before and behind it; undefined until it is asked for. */
  #shard = 0;
  #left: Bytes | undefined;
  #right: Bytes = noBytes;

  constructor({ record, collection: { shards, states } }: Database, positions: Positions) {
    // Shards that are gone have no epoch, and it does not matter which they are given.
    const first = states[shards.shards[0]!]!.epoch;
    const epochs = states.map(({ epoch }, shard) => (shards.isGone(shard) ? first : epoch));
    const same = epochs.every((epoch) => epoch === first);
    const known = same ? varint(first) : varint(0) + epochs.map(varint).join('');
    this.#origin = asBytes(identityOf(record) + varint(shards.size) + known);
    this.#seqs = shards.positions(positions);
    for (const seq of this.#seqs) this.#total += seq;
    this.#write();
  }

  get positions(): Positions {
    return this.#seqs;
  }

  /** Moves one shard's place. */
  move(shard: number, seq: number): void {
    this.#total += seq - this.#seqs[shard]!;
    this.#seqs[shard] = seq;
    if (seq >= narrowMax && this.#width === narrow) this.#write();
    this.#texts[shard] = this.#text(seq);
    if (shard === this.#shard) return;
    this.#shard = shard;
    this.#left = undefined;
  }

  token(): Bytes {
    return asBytes(this.total + this.left + this.moving + this.right.slice(0, -idOpening.length));
  }

  /** The token in four parts, which go into a row as they are: the sum of all sequences, … */
  get total(): number {
    return this.#total;
  }

  /** … what stands before the shard that moved last, … */
  get left(): Bytes {
    return this.#left ?? this.#surround();
  }

  /** … its own sequence, … */
  get moving(): Bytes {
    return this.#texts[this.#shard]!;
  }

  /** … and what stands behind it, up to where the id of a row begins. */
  get right(): Bytes {
    if (this.#left === undefined) this.#surround();
    return this.#right;
  }

  /** Joined to flat texts, since every row copies them. */
  #surround(): Bytes {
    const texts = this.#texts;
    this.#left = asBytes([this.#head, ...texts.slice(0, this.#shard)].join(''));
    this.#right = asBytes([...texts.slice(this.#shard + 1), idOpening].join(''));
    return this.#left;
  }

  #write(): void {
    this.#width = this.#seqs.some((seq) => seq >= narrowMax) ? wide : narrow;
    let head = String.fromCharCode(version, this.#width) + this.#origin;
    while (head.length % 3 !== 0) head += '\0';
    this.#head = asBytes(`-g1${Buffer.from(head, 'latin1').toString('base64url')}`);
    for (const [shard, seq] of this.#seqs.entries()) this.#texts[shard] = this.#text(seq);
    this.#left = undefined;
  }

  #text(seq: number): Bytes {
    const low = seq % narrowMax;
    const text = asBytes(pairs[low >> 12]! + pairs[low & 0xfff]!);
    if (this.#width === narrow) return text;
    const high = Math.floor(seq / narrowMax);
    return asBytes(pairs[high >> 12]! + pairs[high & 0xfff]! + text);
  }
}

/** What follows the sequence of a row. */
const idOpening = '","id":"';
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Twelve bits as two characters of base64url. */
const pairs = Array.from({ length: 4096 }, (_, bits) => letters[bits >> 6]! + letters[bits & 63]!);

/** Tells a database from others that had the name before it. */
const identityOf = ({ uuid }: Database['record']): Bytes => u32(parseInt(uuid ?? '0', 16));

/** Where a database stands, or something that follows it. */
export function encodeSequence(
  database: Database,
  places: readonly { seq: number }[] = database.collection.states,
): string {
  return new SequenceWriter(
    database,
    places.map(({ seq }) => seq),
  ).token();
}

export const currentPositions = ({ collection }: Database): number[] =>
  collection.states.map(({ seq }) => seq);

export const firstPositions = ({ collection }: Database): number[] =>
  new Array<number>(collection.shards.size).fill(0);

/** A place as it was taken down before shards were split, made one of the shards there are now. */
export const followPositions = ({ collection }: Database, positions: Positions): Positions =>
  positions.length === collection.shards.size ? positions : collection.shards.positions(positions);

const opaque = /^(\d+)-g1([A-Za-z0-9_-]*)$/;
/** How an older relative of the interface wrote its sequences: a list of the number and the text. */
const listed = /^\[\s*(\d+)\s*,\s*"(g1[A-Za-z0-9_-]*)"\s*\]$/;

/** How long a sequence is waited for that the shards have not reached yet. */
const aheadWaitMs = 1_000;

/**
 * The same as `parseSince`, but waits a moment for the shards where they are behind the sequence: another replica may have
 * given it out. Those that have not come so far by then are read from the beginning.
 */
export async function awaitSince(database: Database, since: string, waitMs = aheadWaitMs): Promise<number[]> {
  const until = database.runtime.monotonicMs() + waitMs;
  while (isAhead(database, since) && database.endReason === undefined) {
    const left = until - database.runtime.monotonicMs();
    if (left <= 0) break;
    await database.nextCommit(left);
  }
  return parseSince(database, since);
}

function isAhead(database: Database, since: string): boolean {
  const places = placesOf(database, plainText(since));
  if (places === undefined) return false;
  return database.collection.states.some(({ seq, epoch }, shard) => {
    const place = places[shard]!;
    return place.epoch === epoch && place.seq > seq;
  });
}

/**
 * The place that a client names: a sequence it was given, `now`, or a number. What cannot be of this database as it is
 * (another one of that name, a shard put back to an earlier state, another server's sequence) is read from the
 * beginning, shard by shard: a client may see changes twice, and never misses one.
 */
export function parseSince(database: Database, since: string): number[] {
  const text = plainText(since);
  if (text === 'now') return currentPositions(database);
  if (/^\d{1,15}$/.test(text)) return fromNumber(database, Number(text));
  if (!opaque.test(text)) throw badRequest("Malformed sequence supplied in 'since' parameter.");
  const places = placesOf(database, text);
  if (places === undefined) return firstPositions(database);
  return database.collection.states.map(({ seq, epoch }, shard) => {
    const place = places[shard]!;
    return place.epoch === epoch && place.seq <= seq ? place.seq : 0;
  });
}

const plainText = (since: string): string => since.replace(/^"(.*)"$/, '$1').replace(listed, '$1-$2');

/** Undefined for what is no sequence of this database. A shard that was split from another continues its sequences. */
function placesOf({ record, collection: { shards } }: Database, text: string): Token['places'] | undefined {
  const [, , encoded] = opaque.exec(text) ?? [];
  const token =
    encoded === undefined ? undefined : decode(Buffer.from(encoded, 'base64url').toString('latin1'));
  if (token?.identity !== identityOf(record)) return undefined;
  const splits = (token.places.length - shards.q) / 2;
  return splits < 0 || !Number.isInteger(splits) ? undefined : shards.inherit(token.places);
}

/**
 * A number is the sum of the shards' sequences, which alone does not tell a place. But as no shard can have been seen
 * beyond its end, each has been seen at least so far as the others cannot make up the sum; from there nothing is missed.
 */
function fromNumber(database: Database, number: number): number[] {
  const total = database.total('seq');
  return database.collection.states.map(({ seq }) =>
    number > total ? 0 : Math.max(0, number - (total - seq)),
  );
}

interface Token {
  identity: Bytes;
  /** By the numbers of shards. */
  places: { epoch: number; seq: number }[];
}

/** Undefined for what this version did not write. */
function decode(bytes: Bytes): Token | undefined {
  try {
    const reader = new ByteReader(bytes);
    if (reader.u8() !== version) return undefined;
    const width = reader.u8();
    const identity = reader.take(4);
    const size = reader.varint();
    if ((width !== narrow && width !== wide) || size === 0 || size * width > bytes.length) return undefined;
    const common = reader.varint();
    const epochs = Array.from({ length: size }, () => (common === 0 ? reader.varint() : common));
    reader.at += (3 - (reader.at % 3)) % 3;
    const places = epochs.map((epoch) => ({ epoch, seq: number(reader.take(width)) }));
    return reader.done ? { identity, places } : undefined;
  } catch {
    return undefined;
  }
}

function number(bytes: Bytes): number {
  let value = 0;
  for (let i = 0; i < bytes.length; i++) value = value * 256 + bytes.charCodeAt(i);
  return value;
}
