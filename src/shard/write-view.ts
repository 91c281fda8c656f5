import { asBytes, readU48, u48, type Bytes } from '../base/bytes.js';
import { CorruptRecord } from '../base/corrupt-record.js';
import { Overlay } from '../storage/overlay.js';
import type { LogEntry } from '../log/log.js';
import type { Command } from './commands.js';
import { decodeGroupState, encodeGroupState, type GroupState } from './group-state.js';
import type { DatabaseKeys } from './keys.js';
import { countFile } from './volume-blobs.js';
import { decodeShardMap, encodeShardMap, type ShardMap } from './shard-map.js';
import { decodeSplit, encodeSplit, type Split } from './split.js';
import { decodeState, encodeState, type ShardState } from './shard-state.js';

/** A document that began or ceased to be live, by its key: what listings count by. */
export interface LiveDelta {
  key: Bytes;
  by: 1 | -1;
}

/** What a batch of commands did to one database, told to its readers when it is committed. */
export interface Touched {
  instance: number;
  states: Map<number, ShardState>;
  live: LiveDelta[];
  /** Whether design documents are among what changed. */
  designs: boolean;
  /** Changes that came and went, three numbers each: the shard, the new sequence, the one it replaces; 0 for none. */
  moves: number[];
  group: GroupState;
  /** Which shards there are, where any was split. */
  shards: ShardMap | undefined;
  /** Whether one was split by this batch. */
  isSplit: boolean;
  /** The split under way. */
  split: Split | undefined;
  /** What was applied, in order. */
  commands: LogEntry<Command>[];
}

/** Belongs to no database, as the instance number 0 tells. */
export const volumeBytesKey = asBytes('\0\0\0\0\0s');

/** The sum of what the volume's shards have in records. Undefined where it is damaged, until `tuffet check` repairs it. */
export function volumeBytes(source: { get(key: Bytes): Bytes | undefined }): number | undefined {
  try {
    const bytes = source.get(volumeBytesKey);
    return bytes === undefined ? 0 : readU48(bytes, 0);
  } catch (error) {
    if (error instanceof CorruptRecord) return undefined;
    throw error;
  }
}

/** What a shard has in the store: attachments that are files are not. */
export const recordBytes = (state: ShardState): number => state.stored_bytes - state.attachment_bytes;

/**
 * What a command may use of it: records and counters of its group, and notes for readers and for the volume. Nothing that
 * it can read depends on other groups.
 */
export type GroupView = Pick<
  WriteView,
  | 'get'
  | 'put'
  | 'remove'
  | 'state'
  | 'group'
  | 'live'
  | 'design'
  | 'moved'
  | 'namesFile'
  | 'shards'
  | 'split'
>;

/** What commands read and write: the overlay of their volume, and the counters of the shards they touch. */
export class WriteView extends Overlay {
  #touched = new Map<number, Touched>();
  /** What the command under way did to the names of files. */
  #files: { blob: string; by: 1 | -1 }[] = [];

  /** A shard's counters, to be changed in place by the command under way. */
  state(keys: DatabaseKeys, shard: number): ShardState {
    const { states } = this.#touch(keys);
    let state = states.get(shard);
    if (state === undefined) {
      state = decodeState(this.get(keys.state(shard)));
      states.set(shard, state);
    }
    return state;
  }

  /** What the group knows of itself. */
  group(keys: DatabaseKeys): GroupState {
    return this.#touch(keys).group;
  }

  /**
   * Runs a command at the group's next position and lets it change the counters of shards. All is written with it, or put
   * back when it throws.
   */
  applying<T>(keys: DatabaseKeys, shards: readonly number[], command: (position: number) => T): T {
    const touched = this.#touch(keys);
    const states = shards.map((shard) => this.state(keys, shard));
    const before = states.map((state) => ({ ...state }));
    this.#undoLater(touched, states, before, shards);
    const { group } = touched;
    group.position++;
    this.#files = [];
    const result = command(group.position);
    this.put(keys.group, encodeGroupState(group));
    let bytes = 0;
    for (const [i, shard] of shards.entries()) {
      const state = touched.states.get(shard);
      if (state !== undefined) this.put(keys.state(shard), encodeState(state));
      bytes += (state === undefined ? 0 : recordBytes(state)) - recordBytes(before[i]!);
    }
    this.addVolumeBytes(bytes);
    for (const { blob, by } of this.#files) countFile(this, blob, by);
    return result;
  }

  #undoLater(
    touched: Touched,
    states: readonly ShardState[],
    before: readonly ShardState[],
    numbers: readonly number[],
  ): void {
    const { moves, group, commands, shards, split, isSplit } = touched;
    const moved = moves.length;
    const { position, validators, closed } = group;
    const applied = commands.length;
    this.onUndo(() => {
      for (const [i, state] of states.entries())
        touched.states.set(numbers[i]!, Object.assign(state, before[i]));
      Object.assign(touched, { shards, split, isSplit });
      group.position = position;
      group.validators = validators;
      group.closed = closed;
      moves.length = moved;
      commands.length = applied;
    });
  }

  /** Which shards the database has; undefined where none was ever split. */
  shards(keys: DatabaseKeys): ShardMap | undefined {
    return this.#touch(keys).shards;
  }

  setShards(keys: DatabaseKeys, shards: ShardMap): void {
    Object.assign(this.#touch(keys), { shards, isSplit: true });
    this.put(keys.shardMap, encodeShardMap(shards));
  }

  /** The split under way in the database. */
  split(keys: DatabaseKeys): Split | undefined {
    return this.#touch(keys).split;
  }

  setSplit(keys: DatabaseKeys, split: Split | undefined): void {
    this.#touch(keys).split = split;
    if (split === undefined) this.remove(keys.split);
    else this.put(keys.split, encodeSplit(split));
  }

  /** Takes away the counters of a shard that is gone, within `applying`. */
  dropState(keys: DatabaseKeys, shard: number): void {
    this.#touch(keys).states.delete(shard);
    this.remove(keys.state(shard));
  }

  /** Notes a command for the followers of the group. */
  applied(keys: DatabaseKeys, entry: LogEntry<Command>): void {
    this.#touch(keys).commands.push(entry);
  }

  /** Keeps the volume's sum of what its shards have stored in records. */
  addVolumeBytes(by: number): void {
    const bytes = by === 0 ? undefined : volumeBytes(this);
    if (bytes !== undefined) this.put(volumeBytesKey, u48(Math.max(0, bytes + by)));
  }

  live(keys: DatabaseKeys, delta: LiveDelta): void {
    const { live } = this.#touch(keys);
    live.push(delta);
    this.onUndo(() => live.pop());
  }

  /** Notes that a design document changes. */
  design(keys: DatabaseKeys): void {
    this.#touch(keys).designs = true;
  }

  moved(keys: DatabaseKeys, shard: number, seq: number, replaced: number): void {
    this.#touch(keys).moves.push(shard, seq, replaced);
  }

  /** Notes that the group begins or ceases to name a blob that is kept as a file. */
  namesFile(blob: string, by: 1 | -1): void {
    this.#files.push({ blob, by });
  }

  /** Whom the batch that ends here concerns. */
  takeTouched(): Touched[] {
    const touched = [...this.#touched.values()];
    this.#touched = new Map();
    return touched;
  }

  #touch(keys: DatabaseKeys): Touched {
    const { instance } = keys;
    let touched = this.#touched.get(instance);
    if (touched === undefined) {
      touched = {
        instance,
        states: new Map(),
        live: [],
        designs: false,
        moves: [],
        group: decodeGroupState(this.get(keys.group)),
        shards: decodeShardMap(this.get(keys.shardMap)),
        isSplit: false,
        split: decodeSplit(this.get(keys.split)),
        commands: [],
      };
      this.#touched.set(instance, touched);
    }
    return touched;
  }
}
