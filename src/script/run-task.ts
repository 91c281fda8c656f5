import { asBytes, toBytes, type Bytes } from '../base/bytes.js';
import type { MapMemory } from './map-memory.js';
import type { Operation } from './inside/program.js';
import {
  exhaustedReason,
  type CallTask,
  type CheckTask,
  type ListTask,
  type Program,
  type ReduceTask,
} from './messages.js';
import { Exhausted, FunctionFailed, type Sandbox } from './sandbox.js';

/** The thread does not have the program's texts. */
export class MissingProgram extends Error {}

/** Where tasks find the sandbox of their database. */
export interface SandboxPlace {
  /** What the thread knows of map functions. */
  maps: MapMemory;
  sandbox: Sandbox;
  /** What functions may give back in one task. */
  resultBytesMax: number;
  /** Puts a sandbox as new in its place, when it is used up. */
  renew: () => Promise<void>;
}

/** What is handed over to a sandbox at a time. */
const chunkBytes = 256 * 1024;
const chunkLength = 500;

/** Counts what comes back, and refuses more than this thread can hold. */
export class ResultMeter {
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  add(text: Bytes): Bytes {
    this.#bytes += text.length;
    if (this.#bytes > this.bytesMax)
      throw new FunctionFailed('os_process_error', 'Functions gave back more than can be taken at a time.');
    return text;
  }
}

/** Sees to it that the sandbox has the program. */
export function prepare(sandbox: Sandbox, id: string, operation: Operation, { texts }: Program): void {
  if (sandbox.has(id)) return;
  if (texts === undefined) throw new MissingProgram();
  sandbox.open(id, operation, texts);
}

/** Divides what is to be handed over into parts of bounded size. */
export function* chunks(list: readonly Bytes[]): Generator<readonly Bytes[]> {
  let from = 0;
  let bytes = 0;
  for (let i = 0; i < list.length; i++) {
    const { length } = list[i]!;
    if (i > from && (i - from >= chunkLength || bytes + length > chunkBytes)) {
      yield list.slice(from, i);
      from = i;
      bytes = 0;
    }
    bytes += length;
  }
  if (from < list.length) yield list.slice(from);
}

export function runReduce(place: SandboxPlace, task: ReduceTask): Promise<Bytes> {
  const id = `reduce ${task.program.id}`;
  return lineForEach(place, task.groups, (sandbox, groups) => {
    prepare(sandbox, id, 'reducer', task.program);
    const sizes = task.limit === 'false' ? null : groups.map(({ length }) => length);
    const options = { rereduce: task.rereduce, sizes, onlyLog: task.limit === 'log' };
    return sandbox.ask(id, 'reduce', [asBytes(`[${groups.join(',')}]`), toBytes(JSON.stringify(options))]);
  });
}

export function runCalls(place: SandboxPlace, task: CallTask): Promise<Bytes> {
  const id = `ddoc ${task.program.id}`;
  const path = toBytes(JSON.stringify(task.path));
  return lineForEach(place, task.calls, (sandbox, calls) => {
    prepare(sandbox, id, 'ddoc', task.program);
    return sandbox.ask(id, 'call', [path, asBytes(`[${calls.join(',')}]`), task.shared]);
  });
}

/** To run out of memory takes seconds: after so many parts that do, the rest of a task fails without being tried. */
const exceededPartsMax = 3;

/** Runs work that gives a line for each part. Where memory runs out, each part is given all of it for itself. */
async function lineForEach(
  place: SandboxPlace,
  parts: readonly Bytes[],
  run: (sandbox: Sandbox, parts: readonly Bytes[]) => Bytes,
): Promise<Bytes> {
  const meter = new ResultMeter(place.resultBytesMax);
  let lines = '';
  let exceeded = 0;
  for (const chunk of chunks(parts)) {
    try {
      lines += meter.add(
        exceeded < exceededPartsMax ? run(place.sandbox, chunk) : exceededLine.repeat(chunk.length),
      );
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error;
      for (const part of chunk) {
        const line = exceeded < exceededPartsMax ? await aloneLine(place, part, run) : exceededLine;
        if (line === exceededLine) exceeded++;
        lines += meter.add(line);
      }
    }
  }
  return asBytes(lines);
}

async function aloneLine(
  place: SandboxPlace,
  part: Bytes,
  run: (sandbox: Sandbox, parts: readonly Bytes[]) => Bytes,
): Promise<Bytes> {
  await place.renew();
  try {
    return run(place.sandbox, [part]);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    await place.renew();
    return exceededLine;
  }
}

export function runList({ sandbox }: SandboxPlace, { program, path, given }: ListTask): Bytes {
  const id = `ddoc ${program.id}`;
  prepare(sandbox, id, 'ddoc', program);
  return sandbox.ask(id, 'list', [toBytes(JSON.stringify(path)), given]);
}

/** Tries to compile sources; a line for each says what is wrong, if anything. */
export function runCheck({ sandbox }: SandboxPlace, { sources }: CheckTask): Bytes {
  let lines = '';
  sandbox.open('check', undefined, []);
  for (const source of sources) {
    try {
      sandbox.ask('check', 'check', [source]);
      lines += 'null\n';
    } catch (error) {
      if (!(error instanceof FunctionFailed)) throw error;
      lines += failureLine(error.error, error.reason);
    }
  }
  sandbox.close('check');
  return asBytes(lines);
}

const failureLine = (error: string, reason: unknown): Bytes =>
  asBytes(`!${toBytes(JSON.stringify([error, reason]))}\n`);

const exceededLine = failureLine('os_process_error', exhaustedReason);
