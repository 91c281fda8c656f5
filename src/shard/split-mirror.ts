import type { Bytes } from '../base/bytes.js';
import type { DatabaseKeys } from './keys.js';
import { isCopied, targetOf, type Split } from './split.js';
import type { GroupView } from './write-view.js';

/** What a document counts as. */
export interface Counted {
  seq: number;
  deleted: boolean;
  countsAsLive: boolean;
}

/** Keeps the targets of a split in step with what is written to the source. */
export class SplitMirror {
  private constructor(
    private readonly keys: DatabaseKeys,
    private readonly view: GroupView,
    private readonly split: Split,
  ) {}

  /** Undefined for a shard that is not being split. */
  static of(keys: DatabaseKeys, view: GroupView, shard: number): SplitMirror | undefined {
    const split = view.split(keys);
    if (split?.source !== shard || split.phase !== 'copying') return undefined;
    return new SplitMirror(keys, view, split);
  }

  /** A document's change was replaced by another, or came, or went. */
  changed(id: Bytes, old: Counted | undefined, now: (Counted & { change: Bytes }) | undefined): void {
    const target = targetOf(this.split, id);
    const had = old !== undefined && isCopied(this.split.changes, old.seq) ? old : undefined;
    if (had !== undefined) {
      this.view.remove(this.keys.change(target, had.seq));
      this.#count(target, had, -1);
    }
    if (now !== undefined) {
      this.view.put(this.keys.change(target, now.seq), now.change);
      this.#count(target, now, 1);
    }
    this.view.moved(this.keys, target, now?.seq ?? 0, had?.seq ?? 0);
  }

  purged(id: Bytes, purgeSeq: number, record: Bytes): void {
    this.view.put(this.keys.purge(targetOf(this.split, id), purgeSeq), record);
  }

  /** A purge is no longer remembered; only one of the targets has it. */
  forgot(purgeSeq: number): void {
    for (const target of [this.split.target, this.split.target + 1])
      this.view.remove(this.keys.purge(target, purgeSeq));
  }

  #count(target: number, { deleted, countsAsLive }: Counted, by: 1 | -1): void {
    const state = this.view.state(this.keys, target);
    if (countsAsLive) state.doc_count += by;
    else state.doc_del_count += by;
    if (deleted) state.tombstones += by;
  }
}
