import type { Bytes } from '../base/bytes.js';

/** What is sent to a thread and comes back from it. One task is under way on a thread at a time. */
export type Task = MapTask | ReduceTask | CallTask | ListTask | CheckTask;

interface TaskOf<Kind extends string> {
  kind: Kind;
  space: string;
}

/** The sources that a task needs, known to the thread by their id from the second time on. */
export interface Program {
  id: string;
  /** Left out where the thread should have it. */
  texts?: readonly Bytes[];
}

export interface MapTask extends TaskOf<'map'> {
  /** Texts: JSON of the sources, JSON of `views.lib` or nothing, `search` or `nouveau` for functions of search indexes. */
  program: Program;
  docs: readonly Bytes[];
}

export interface ReduceTask extends TaskOf<'reduce'> {
  /** Text: JSON of the source. */
  program: Program;
  /** Each `[keys,values]`. */
  groups: readonly Bytes[];
  rereduce: boolean;
  /** What is done about results that are hardly smaller than what they are made of. */
  limit: 'true' | 'false' | 'log';
}

export interface CallTask extends TaskOf<'call'> {
  /** Text: JSON of the design document. */
  program: Program;
  path: readonly string[];
  /** JSON of an array of arguments each. */
  calls: readonly Bytes[];
  /** JSON of an array of arguments that follow those of every call. */
  shared: Bytes;
}

export interface ListTask extends TaskOf<'list'> {
  program: Program;
  path: readonly string[];
  /** JSON of `[head,request]`. */
  given: Bytes;
}

export interface CheckTask extends TaskOf<'check'> {
  sources: readonly Bytes[];
}

/** Rows of the functions `which` for `docs` documents, in the form of `inside/map.ts`. */
export interface MapPart {
  which: readonly number[];
  docs: number;
  text: Bytes;
}

/** A document for which the function `map` needed more memory than it may have. */
export interface ExceededDoc {
  map: number;
  id: string;
}

/** A map function that needs too much memory is given so many documents; the next ones get no rows without being tried. */
export const exceededDocsMax = 3;

export type Reply =
  | { type: 'done'; parts: MapPart[]; exceeded: ExceededDoc[]; notes: string[] }
  | { type: 'lines'; text: Bytes; notes: string[] }
  /** The task has to be sent again with the texts of its program. */
  | { type: 'missing' }
  /** A function failed by a name of its own, or could not be compiled. */
  | { type: 'failed'; error: string; reason: unknown; notes: string[] }
  | { type: 'exhausted'; notes: string[] };

/** What a list function waits for. */
export type Question =
  /** Rows. */
  | { type: 'pull' }
  /** A list sends something: JSON of `["start",head]` or `["chunk",text]`. */
  | { type: 'push'; text: Bytes };

/** What a list that waits is answered. */
export type Continue = { rows: Bytes } | { sent: true } | { stop: true };

export const exhaustedReason = 'The function needed more memory than it may have.';

/** Places in the memory that a thread shares with its host. */
export const shared = {
  /** When the call that is under way began, in milliseconds of `clockMs`. */
  since: 0,
  /** 1 while the thread waits for its host. */
  waiting: 1,
  /** Counts what the host has said; the thread sleeps on it. */
  said: 2,
  /** The number by which Linux knows the thread; 0 elsewhere. */
  thread: 3,
  length: 4,
} as const;

/** A clock that all threads share, with a range of 24 days. */
export const clockMs = (): number => (performance.timeOrigin + performance.now()) | 0;
