import type { Runtime } from '../base/runtime.js';
import { createHash } from 'node:crypto';
import { asBytes, fromBytes, noBytes, toBytes, type Bytes } from '../base/bytes.js';
import { FunctionError, RequestError, Unavailable } from '../base/errors.js';
import { jsonDepthMax } from '../json/walker.js';
import { CallCounts, validationPath } from './call-counts.js';
import { readMapParts, type EmittedDoc } from './map-text.js';
import {
  exhaustedReason,
  type CallTask,
  type ExceededDoc,
  type MapPart,
  type Program,
  type Task,
} from './messages.js';
import { idOf } from './doc-id.js';
import { Scheduler, type TaskExecutor } from './scheduler.js';
import { ThreadEnded, type FinalReply, type ListPeer } from './script-thread.js';
import { compileEngine } from './vm.js';

export interface ScriptOptions {
  runtime: Runtime;
  /** Most worker threads at a time. */
  threads: number;
  /** Most memory of one database's functions on one thread. */
  memory_bytes: number;
  /** How long one call of a function may take, in milliseconds. */
  timeoutMs: () => number;
  /** What is done about a reduce function that gives not much less than it is given; an error where this is left out. */
  reduceLimit?: () => ReduceLimit;
  /** For work that may take its time: leaves the processor to everything else. */
  lowPriority?: boolean;
  /** Whether a thread stays when there is nothing to do, so that the next call need not wait for one to start. */
  keepsThread?: boolean;
  /** Where functions run in place of threads, in a simulation for example. */
  openExecutor?: () => Promise<TaskExecutor>;
  /** What functions say by `log`, and errors in them that no client is told of. */
  log: (space: string, message: string) => void;
}

/** As the option `reduce_limit` has it. */
export type ReduceLimit = 'true' | 'false' | 'log';

/** The interfaces of search, CouchDB's older and newer one: their functions call `index` with different arguments. */
export type SearchApi = 'search' | 'nouveau';

/** Map functions that see the same documents. Equal ids must mean equal contents. */
export interface MapProgram {
  id: string;
  /** JSON text of `views.lib`. */
  lib: Bytes | undefined;
  /** Sources, as text (no byte strings). */
  maps: readonly string[];
  /** Where the functions fill search indexes: which form of `index` they call. */
  searchApi?: SearchApi | undefined;
}

/** Rows in the form in which they have come from the sandbox: as few texts, until they are asked for. */
class MapResult {
  constructor(
    private readonly parts: readonly MapPart[],
    /** Documents for which functions needed too much memory, and which have no rows of theirs. */
    readonly exceeded: readonly ExceededDoc[],
    private readonly docs: number,
    private readonly maps: number,
    private readonly tooDeep: (doc: number) => void,
    private readonly runtime: Runtime,
  ) {}

  /** For each document, made again each time. */
  rows(): Promise<EmittedDoc[]> {
    return readMapParts(this.parts, this.docs, this.maps, this.tooDeep, this.runtime);
  }
}

/** A design document. Equal ids must mean equal contents, so the id is a digest: a revision can change its body. */
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

/** Where a list function gets its rows from. */
export interface RowSource {
  /** The next rows, as JSON text of an array; undefined when there are no more. */
  next(): Promise<Bytes | undefined>;
}

/** Where a list function's answer goes. */
export interface ListSink {
  /** Comes first, once. */
  start(head: ListHead): void;
  /** Resolves when more may be sent; false when the client is gone. */
  write(text: string): Promise<boolean>;
}

export interface ListHead {
  code?: unknown;
  headers?: unknown;
}

/**
 * Runs user functions in a sandbox, on threads of its own. `space` tells databases apart: functions of different spaces
 * share nothing. Every method refuses with `os_process_error` when a function takes too long or too much memory, with
 * `service_unavailable` when too many calls are waiting, and with the function's own failure (`FunctionError`) when it
 * cannot be compiled or is not there.
 */
export class ScriptHost {
  #executor: Promise<TaskExecutor> | undefined;
  #closed = false;
  readonly counts = new CallCounts();

  constructor(readonly options: ScriptOptions) {}

  /**
   * Runs map functions on documents (JSON without white space). What a function throws costs its rows for that document,
   * but `["fatal", …]` is the end of all.
   */
  async map(space: string, program: MapProgram, docs: readonly Bytes[]): Promise<MapResult> {
    const { maps, lib = noBytes, searchApi = '' } = program;
    const texts = [toBytes(JSON.stringify(maps)), lib, asBytes(searchApi)];
    const bytes = sizeOf(docs);
    const reply = await this.#run({ kind: 'map', space, program: { id: program.id, texts }, docs }, bytes);
    const { parts, exceeded } = reply.type === 'done' ? reply : { parts: [], exceeded: [] };
    const tooDeep = (doc: number): void =>
      this.options.log(
        space,
        `A map function emitted JSON nested deeper than ${jsonDepthMax} levels for the document ${idOf(docs[doc]!)}, which it skips.`,
      );
    return new MapResult(parts, exceeded, docs.length, program.maps.length, tooDeep, this.options.runtime);
  }

  /** One value for each group. A function that throws gives null. */
  reduce(space: string, source: string, groups: readonly ReduceGroup[]): Promise<ScriptValue[]> {
    const given = groups.map(({ keys, values }) => asBytes(`[${keys},${values}]`));
    return this.#reduce(space, source, given, false);
  }

  /** One value for each group, which is JSON text of `[value,…]`. */
  rereduce(space: string, source: string, groups: readonly Bytes[]): Promise<ScriptValue[]> {
    const given = groups.map((values) => asBytes(`[null,${values}]`));
    return this.#reduce(space, source, given, true);
  }

  /**
   * Calls the function at `path` of the design document, once for each list of arguments (JSON text of an array), to
   * which those of `shared` are added.
   */
  async call(
    space: string,
    ddoc: DdocProgram,
    path: readonly string[],
    calls: readonly Bytes[],
    shared: Bytes = asBytes('[]'),
  ): Promise<ScriptValue[]> {
    const task: CallTask = { kind: 'call', space, program: ddocProgram(ddoc), path, calls, shared };
    const values = readLines(await this.#run(task, sizeOf(calls) + ddoc.json.length));
    if (path[0] === validationPath)
      this.counts.rejections += values.filter((value) => 'error' in value).length;
    return values;
  }

  /** Runs a list function: rows come from `source` as it asks for them, its answer goes to `sink` as it makes it. */
  async list(
    space: string,
    ddoc: DdocProgram,
    path: readonly string[],
    given: { head: Bytes; request: Bytes },
    source: RowSource,
    sink: ListSink,
  ): Promise<void> {
    let broken: unknown;
    /** What fails on this side ends the function, and is what the caller is told. */
    const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        broken = error;
        throw error;
      }
    };
    const peer: ListPeer = {
      pull: () => guarded(() => source.next()),
      push: (text) =>
        guarded(async () => {
          const [kind, value] = JSON.parse(fromBytes(text)) as ['start', ListHead] | ['chunk', string];
          if (kind === 'chunk') return await sink.write(value);
          sink.start(value);
          return true;
        }),
    };
    const list = asBytes(`[${given.head},${given.request}]`);
    try {
      await this.#run(
        { kind: 'list', space, program: ddocProgram(ddoc), path, given: list },
        list.length,
        peer,
      );
    } catch (error) {
      throw broken ?? error;
    }
  }

  /** What is wrong with each source, if anything. */
  check(space: string, sources: readonly string[]): Promise<ScriptValue[]> {
    const texts = sources.map((source) => toBytes(JSON.stringify(source)));
    return this.#run({ kind: 'check', space, sources: texts }, sizeOf(texts)).then(readLines);
  }

  /** Starts a thread, so that the first call need not wait for it. */
  async warm(): Promise<void> {
    if (!this.#closed) (await this.#start()).warm?.();
  }

  /** Forgets everything that functions have left behind. */
  async renew(): Promise<void> {
    (await this.#executor)?.renew();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#executor)?.close();
  }

  async #reduce(
    space: string,
    source: string,
    groups: readonly Bytes[],
    rereduce: boolean,
  ): Promise<ScriptValue[]> {
    const text = toBytes(JSON.stringify(source));
    const program = { id: createHash('md5').update(text).digest('hex'), texts: [text] };
    const limit = this.options.reduceLimit?.() ?? 'true';
    const task: Task = { kind: 'reduce', space, program, groups, rereduce, limit };
    return readLines(await this.#run(task, sizeOf(groups)));
  }

  async #run(task: Task, bytes: number, peer?: ListPeer): Promise<FinalReply> {
    if (this.#closed) throw new Unavailable('The server is closing.');
    const executor = await this.#start();
    const started = this.options.runtime.monotonicMs();
    const reply = await executor.submit(task, bytes, peer).catch((error: unknown) => {
      if (!(error instanceof ThreadEnded)) throw error;
      this.counts.errors++;
      throw this.#refusalOf(task.space, error);
    });
    this.counts.done(task, this.options.runtime.monotonicMs() - started);
    for (const note of reply.notes) this.options.log(task.space, note);
    if (reply.type === 'failed') throw new FunctionError(reply.error, reply.reason);
    if (reply.type === 'exhausted') throw new RequestError('os_process_error', exhaustedReason);
    return reply;
  }

  readonly #start = (): Promise<TaskExecutor> =>
    (this.#executor ??= this.options.openExecutor?.() ?? this.#startThreads());

  async #startThreads(): Promise<Scheduler> {
    const { threads, lowPriority = false, keepsThread, ...options } = this.options;
    return new Scheduler(threads, { ...options, lowPriority, wasm: await compileEngine() }, keepsThread);
  }

  #refusalOf(space: string, { timedOut, cause }: ThreadEnded): RequestError {
    if (cause !== undefined) this.options.log(space, `A thread for functions broke: ${String(cause)}`);
    if (this.#closed) return new Unavailable('The server is closing.');
    const reason = timedOut
      ? `The function took longer than ${this.options.timeoutMs()} ms.`
      : 'The thread that ran the function ended.';
    return new RequestError('os_process_error', reason);
  }
}

const ddocProgram = ({ id, json }: DdocProgram): Program => ({ id, texts: [json] });

const sizeOf = (texts: readonly Bytes[]): number => texts.reduce((bytes, { length }) => bytes + length, 0);

/** A line is a value, or `!` and `[error,reason]`. */
function readLines(reply: FinalReply): ScriptValue[] {
  if (reply.type !== 'lines') return [];
  return reply.text
    .split('\n')
    .slice(0, -1)
    .map((line): ScriptValue => {
      if (!line.startsWith('!')) return { ok: line };
      const [error, reason] = JSON.parse(fromBytes(line.slice(1))) as [string, unknown];
      return { error, reason };
    });
}
