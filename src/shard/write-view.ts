import { readU48, u48, type Bytes } from '../base/bytes.js';
import { Overlay } from '../storage/overlay.js';
import type { DatabaseKeys } from './keys.js';
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
}

/** Belongs to no database, as the instance number 0 tells. */
export const volumeBytesKey = '\0\0\0\0\0s';

export const readVolumeBytes = (bytes: Bytes | undefined): number =>
  bytes === undefined ? 0 : readU48(bytes, 0);

/** What a shard has in the store: attachments that are files are not. */
export const recordBytes = (state: ShardState): number => state.stored_bytes - state.attachment_bytes;

/** What commands read and write: the overlay of their volume, and the counters of the shards they touch. */
export class WriteView extends Overlay {
  #touched = new Map<number, Touched>();

  /** A shard's counters, to be changed in place by the command under way. */
  state(keys: DatabaseKeys, shard: number): ShardState {
    const { states } = this.#touch(keys.instance);
    let state = states.get(shard);
    if (state === undefined) {
      state = decodeState(this.get(keys.state(shard)));
      states.set(shard, state);
    }
    return state;
  }

  /** Lets a command change a shard's counters; they are written with it, or put back when it throws. */
  counting<T>(keys: DatabaseKeys, shard: number, command: (state: ShardState) => T): T {
    const state = this.state(keys, shard);
    const before = { ...state };
    const { moves } = this.#touch(keys.instance);
    const moved = moves.length;
    this.onUndo(() => {
      Object.assign(state, before);
      moves.length = moved;
    });
    const result = command(state);
    this.put(keys.state(shard), encodeState(state));
    this.addVolumeBytes(recordBytes(state) - recordBytes(before));
    return result;
  }

  /** Keeps the volume's sum of what its shards have stored in records. */
  addVolumeBytes(by: number): void {
    if (by !== 0) this.put(volumeBytesKey, u48(Math.max(0, readVolumeBytes(this.get(volumeBytesKey)) + by)));
  }

  live(keys: DatabaseKeys, delta: LiveDelta): void {
    const { live } = this.#touch(keys.instance);
    live.push(delta);
    this.onUndo(() => live.pop());
  }

  /** Notes that a design document changes. */
  design(keys: DatabaseKeys): void {
    this.#touch(keys.instance).designs = true;
  }

  moved(keys: DatabaseKeys, shard: number, seq: number, replaced: number): void {
    this.#touch(keys.instance).moves.push(shard, seq, replaced);
  }

  /** Whom the batch that ends here concerns. */
  takeTouched(): Touched[] {
    const touched = [...this.#touched.values()];
    this.#touched = new Map();
    return touched;
  }

  #touch(instance: number): Touched {
    let touched = this.#touched.get(instance);
    if (touched === undefined) {
      touched = { instance, states: new Map(), live: [], designs: false, moves: [] };
      this.#touched.set(instance, touched);
    }
    return touched;
  }
}
