import type { Bytes } from '../../base/bytes.js';
import type { Write } from '../../storage/store.js';
import { recordKey } from './node-source.js';
import type { TreeState } from './tree-state.js';

/** The records that an update writes and removes, and what becomes of the state by them. */
export class TreeEdit {
  readonly #puts = new Map<number, Bytes>();
  readonly #removed: number[] = [];
  #nextId: number;
  #bytes: number;

  constructor(
    private readonly prefix: Bytes,
    before: TreeState,
  ) {
    this.#nextId = before.nextId;
    this.#bytes = before.bytes;
  }

  /** Puts a node or value under a new id. */
  readonly put = (record: Bytes): number => {
    // Looking at a character makes one string of the many that a record was put together from, and sets those free.
    if (record.charCodeAt(0) > 0xff) throw new Error("a record of a view's tree is made of bytes");
    const id = this.#nextId++;
    this.#puts.set(id, record);
    this.#bytes += record.length;
    return id;
  };

  /** Removes a record that was stored before the update. */
  remove(id: number, bytes: number): void {
    this.#removed.push(id);
    this.#bytes -= bytes;
  }

  /** Takes back a record of this update. */
  takeBack(id: number): void {
    this.#bytes -= this.#puts.get(id)!.length;
    this.#puts.delete(id);
  }

  finish(root: number, height: number, count: number): { writes: Write[]; state: TreeState } {
    const writes: Write[] = this.#removed.map((id) => ({
      key: recordKey(this.prefix, id),
      value: undefined,
    }));
    for (const [id, value] of this.#puts) writes.push({ key: recordKey(this.prefix, id), value });
    return { writes, state: { root, height, count, nextId: this.#nextId, bytes: this.#bytes } };
  }
}
