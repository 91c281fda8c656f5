import type { Bytes } from '../../base/bytes.js';
import type { Write } from '../../storage/store.js';
import { recordKey } from './node-source.js';
import type { TreeState } from './tree-state.js';

/** Commits records before the update that they belong to: nothing refers to them until then. */
export type CommitAhead = (writes: readonly Write[]) => Promise<void>;

/** New records that are held in memory before they are written ahead. */
const heldBytesMax = 8 * 1024 * 1024;

/** The records that an update writes and removes, and what becomes of the state by them. */
export class TreeEdit {
  readonly #puts = new Map<number, Bytes>();
  #heldBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  readonly #removed: number[] = [];
  #nextId: number;
  #bytes: number;

  constructor(
    private readonly prefix: Bytes,
    before: TreeState,
    private readonly commitAhead?: CommitAhead,
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
    this.#heldBytes += record.length;
    return id;
  };

  get isLarge(): boolean {
    return this.commitAhead !== undefined && this.#heldBytes >= heldBytesMax;
  }

  /**
   * Writes the new records so far, so that memory does not grow with what an update changes. They can't be taken back. If the
   * update fails, they stay until their ids are given again or the tree is removed.
   */
  async writeAhead(): Promise<void> {
    const writes = this.#written();
    this.#puts.clear();
    this.#heldBytes = 0;
    await this.#writing;
    this.#writing = this.commitAhead!(writes);
    // The error is thrown to the next caller that waits for it.
    this.#writing.catch(() => {});
  }

  #written(): Write[] {
    return [...this.#puts].map(([id, value]) => ({ key: recordKey(this.prefix, id), value }));
  }

  /** Removes a record that was stored before the update. */
  remove(id: number, bytes: number): void {
    this.#removed.push(id);
    this.#bytes -= bytes;
  }

  /** Takes back a record of this update that was not written ahead. */
  takeBack(id: number): void {
    this.#bytes -= this.#puts.get(id)!.length;
    this.#puts.delete(id);
  }

  async finish(root: number, height: number, count: number): Promise<{ writes: Write[]; state: TreeState }> {
    await this.#writing;
    const writes: Write[] = this.#removed.map((id) => ({
      key: recordKey(this.prefix, id),
      value: undefined,
    }));
    for (const write of this.#written()) writes.push(write);
    return { writes, state: { root, height, count, nextId: this.#nextId, bytes: this.#bytes } };
  }
}
