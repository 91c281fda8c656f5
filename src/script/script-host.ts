import type { Bytes } from '../base/bytes.js';

export interface ScriptOptions {
  /** Most worker threads at a time. They start when they are needed and end when they are not. */
  threads: number;
  /** Most memory of one database's functions on one thread. */
  memory_bytes: number;
  /** How long one call of a function may take, in milliseconds. */
  timeoutMs: () => number;
  /** Whether `reduce` refuses results that don't shrink, read at each call. Yes where it is left out. */
  reduceLimit?: () => boolean;
  /** For work that may take its time: leaves the processor to everything else. */
  lowPriority?: boolean;
  /** What functions say by `log`, and what went wrong in them without anybody being told. */
  log: (space: string, message: string) => void;
}

/** Map functions that see the same documents. Equal ids must mean equal contents. */
export interface MapProgram {
  id: string;
  /** JSON text of `views.lib`. */
  lib: Bytes | undefined;
  /** Sources, as text (no byte strings). */
  maps: readonly string[];
}

export interface EmittedRow {
  /** JSON text. */
  key: Bytes;
  /** JSON text. */
  value: Bytes;
}

/** What each map function emitted for one document, in the order of emission. */
export type EmittedDoc = readonly (readonly EmittedRow[])[];

export interface MapResult {
  /** For each document. */
  rows: EmittedDoc[];
}

/** A design document. Equal ids must mean equal contents: `{id}@{rev}` will do. */
export interface DdocProgram {
  id: string;
  /** JSON text of the whole document, `_id` and `_rev` included. */
  json: Bytes;
}

/** What a function gave back, or threw. The reason is nearly always a string, but a function may throw any value. */
export type ScriptValue = { ok: Bytes } | { error: string; reason: unknown };

export interface ReduceGroup {
  /** JSON text of `[[key,id],…]`. */
  keys: Bytes;
  /** JSON text of `[value,…]`. */
  values: Bytes;
}

/**
 * Runs user functions in a sandbox, on threads of its own. `space` tells databases apart: functions of different spaces
 * share nothing. All methods refuse with `os_process_error` (a call took too long, or too much memory),
 * `compilation_error`, or `service_unavailable` (too many calls are waiting).
 */
export class ScriptHost {
  constructor(readonly options: ScriptOptions) {}

  /** Refuses when a function cannot be compiled or throws `["fatal", …]`; other exceptions only cost their rows. */
  map(_space: string, _program: MapProgram, _docs: readonly Bytes[]): Promise<MapResult> {
    throw new Error('not built yet');
  }

  /** One value for each group. A function that throws gives null. */
  reduce(_space: string, _source: string, _groups: readonly ReduceGroup[]): Promise<ScriptValue[]> {
    throw new Error('not built yet');
  }

  /** One value for each group, which is JSON text of `[value,…]`. */
  rereduce(_space: string, _source: string, _groups: readonly Bytes[]): Promise<ScriptValue[]> {
    throw new Error('not built yet');
  }

  /** Calls the function at `path` of the design document, once for each list of arguments (JSON text of an array). */
  call(
    _space: string,
    _ddoc: DdocProgram,
    _path: readonly string[],
    _calls: readonly Bytes[],
  ): Promise<ScriptValue[]> {
    throw new Error('not built yet');
  }

  async close(): Promise<void> {}
}
