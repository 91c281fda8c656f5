import { RecentTimes } from '../base/recent-times.js';
import type { Task } from './messages.js';

/** What functions are called for, by the names of CouchDB's statistics. */
export type CallKind = 'map' | 'reduce' | 'add_fun' | 'ddoc_vdu' | 'ddoc_filter' | 'ddoc_other';

/** The part of the counts that is told from one thread to another. */
export interface MapCounts {
  maps: number;
  maps_ms: number;
  reduces: number;
  reduces_ms: number;
  docs: number;
  errors: number;
}

/** How often functions were called, and how long that took. Documents of one message are one call. */
export class CallCounts {
  readonly calls: Record<CallKind, number> = {
    map: 0,
    reduce: 0,
    add_fun: 0,
    ddoc_vdu: 0,
    ddoc_filter: 0,
    ddoc_other: 0,
  };
  /** In milliseconds, with the time that a call has waited for a thread. */
  readonly time: Record<CallKind, number> = { ...this.calls };
  readonly validations = new RecentTimes();
  /** Documents that validation functions have refused. */
  rejections = 0;
  /** Calls that ended with their thread. */
  errors = 0;
  /** Documents that were given to map functions. */
  mappedDocs = 0;

  done(task: Task, ms: number): void {
    const kind = kindOf(task);
    this.calls[kind]++;
    this.time[kind] += ms;
    if (kind === 'ddoc_vdu') this.validations.observe(ms);
    if (task.kind === 'map') this.mappedDocs += task.docs.length;
  }

  /** What was counted since the last time, of the functions that fill indexes. */
  takeMaps(): MapCounts {
    const taken = {
      maps: this.calls.map,
      maps_ms: this.time.map,
      reduces: this.calls.reduce,
      reduces_ms: this.time.reduce,
      docs: this.mappedDocs,
      errors: this.errors,
    };
    this.calls.map = this.calls.reduce = this.time.map = this.time.reduce = 0;
    this.mappedDocs = this.errors = 0;
    return taken;
  }

  addMaps({ maps, maps_ms, reduces, reduces_ms, docs, errors }: MapCounts): void {
    this.calls.map += maps;
    this.time.map += maps_ms;
    this.calls.reduce += reduces;
    this.time.reduce += reduces_ms;
    this.mappedDocs += docs;
    this.errors += errors;
  }
}

const kindOfKind = { map: 'map', reduce: 'reduce', check: 'add_fun', list: 'ddoc_other' } as const;

function kindOf(task: Task): CallKind {
  if (task.kind !== 'call') return kindOfKind[task.kind];
  if (task.path[0] === validationPath) return 'ddoc_vdu';
  // The map function of a view may serve as a filter.
  return task.path[0] === 'filters' || task.path[0] === 'views' ? 'ddoc_filter' : 'ddoc_other';
}

/** Where a design document has its validation function. */
export const validationPath = 'validate_doc_update';
