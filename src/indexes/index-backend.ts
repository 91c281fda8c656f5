import type { OtherReaders } from '../storage/other-readers.js';
import type { Store, StoreSize } from '../storage/store.js';
import type { FailedView, IndexJob, OnProgress } from './index-job.js';

/** Where the documents of a job are: the store itself, and its folder for threads that open it themselves. */
export interface Documents {
  store: Store;
  /** Undefined where all is in memory. */
  folder: string | undefined;
}

/** A store of indexes, and what fills them, wherever that is done. */
export interface IndexBackend {
  /** What is committed, for readers on the serving thread. */
  readonly store: Store;
  /** The folder of the store; undefined in memory, and as long as there are no indexes. */
  readonly storeFolder: string | undefined;
  /** Shares the store with other processes. */
  share(readers: OtherReaders): void;
  /** Gives the views that could not be brought up to date. */
  update(job: IndexJob, documents: Documents, onProgress: OnProgress): Promise<readonly FailedView[]>;
  keepOnly(instance: number, signatures: readonly string[]): Promise<void>;
  drop(instance: number): Promise<void>;
  discard(number: number, root: number): Promise<void>;
  /** A volume of documents was replaced by another folder. */
  released(folder: string): Promise<void>;
  /** Ends what fills indexes; it starts again with the next update. */
  restart(): Promise<void>;
  /** Has functions start afresh, as far as they run on threads of the backend's own. */
  renew(): Promise<void>;
  /** Gives disk space back where that is worth the copying: sooner, where somebody asks for it. */
  reclaim(isAsked: boolean): Promise<void>;
  /** Undefined as long as there are no indexes. */
  size(): StoreSize | undefined;
  close(): Promise<void>;
}
