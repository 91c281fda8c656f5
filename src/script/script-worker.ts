import { readlinkSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { BoundedMap } from '../base/bounded-map.js';
import { receiveTold, Rpc } from '../base/rpc.js';
import { clockMs, shared, type Continue, type Question, type Reply, type Task } from './messages.js';
import { MapMemory } from './map-memory.js';
import { lowerPriority } from './priority.js';
import { runMap } from './run-map.js';
import { MissingProgram, runCalls, runCheck, runList, runReduce, type SandboxPlace } from './run-task.js';
import { Exhausted, FunctionFailed, Sandbox } from './sandbox.js';

/** The module of the threads of `script-thread.ts`: does one task after the other, each in the sandbox of its database. */
export interface ScriptWorkerData {
  wasm: WebAssembly.Module;
  memory_bytes: number;
  state: Int32Array;
  lowPriority: boolean;
}

const { wasm, memory_bytes, state, lowPriority } = workerData as ScriptWorkerData;
const port = parentPort!;
const rpc = new Rpc<Question, never, never, Task>(port, (task) => {
  hooks.pause();
  return run(task);
});

/** Databases whose sandboxes a thread keeps, the longest unused first. */
const sandboxesMax = 3;
const sandboxes = new BoundedMap<string, Sandbox>(sandboxesMax);
const maps = new MapMemory();
/** Four times what one call could ever give back. */
const resultBytesMax = 4 * memory_bytes;

/** A list function was told that the client is gone. */
class Stopped extends Error {}

const hooks = {
  pause: () => void Atomics.store(state, shared.waiting, 1),
  tick: () => {
    Atomics.store(state, shared.since, clockMs());
    Atomics.store(state, shared.waiting, 0);
  },
  pull: () => {
    const answer = ask({ type: 'pull' });
    return 'rows' in answer ? answer.rows : '';
  },
  push: (text: string) => {
    ask({ type: 'push', text });
    return undefined;
  },
};

/** Asks the host and sleeps until it answers: functions cannot wait in any other way. */
function ask(question: Question): Continue {
  const heard = Atomics.load(state, shared.said);
  Atomics.store(state, shared.waiting, 1);
  rpc.tell(question);
  Atomics.wait(state, shared.said, heard);
  hooks.tick();
  const answer = receiveTold<Continue>(port);
  if (answer === undefined || 'stop' in answer) throw new Stopped();
  return answer;
}

async function placeOf(space: string): Promise<SandboxPlace> {
  const make = (): Promise<Sandbox> => Sandbox.create(wasm, memory_bytes, hooks);
  const place = {
    maps,
    sandbox: sandboxes.get(space) ?? (await make()),
    resultBytesMax,
    renew: async () => {
      sandboxes.delete(space);
      hooks.pause();
      place.sandbox = await make();
      hooks.tick();
    },
  };
  return place;
}

/** Keeps a sandbox for the next task, unless it has grown large. */
function keep(space: string, sandbox: Sandbox): void {
  if (sandbox.isBloated) sandboxes.delete(space);
  else sandboxes.set(space, sandbox);
}

async function run(task: Task): Promise<Reply> {
  const place = await placeOf(task.space);
  hooks.tick();
  const notes: string[] = [];
  const takeNotes = (): string[] => [...notes, ...place.sandbox.takeNotes().map(String)];
  try {
    const reply = await perform(task, place, notes);
    keep(task.space, place.sandbox);
    return 'notes' in reply ? { ...reply, notes: takeNotes() } : reply;
  } catch (error) {
    if (error instanceof MissingProgram || error instanceof FunctionFailed) keep(task.space, place.sandbox);
    if (error instanceof MissingProgram) return { type: 'missing' };
    if (error instanceof FunctionFailed) {
      return { type: 'failed', error: error.error, reason: error.reason, notes: takeNotes() };
    }
    sandboxes.delete(task.space);
    if (error instanceof Exhausted || error instanceof Stopped)
      return { type: 'exhausted', notes: takeNotes() };
    throw error;
  }
}

async function perform(task: Task, place: SandboxPlace, notes: string[]): Promise<Reply> {
  switch (task.kind) {
    case 'map':
      return { type: 'done', ...(await runMap(place, task, notes)), notes };
    case 'reduce':
      return { type: 'lines', text: await runReduce(place, task), notes };
    case 'call':
      return { type: 'lines', text: await runCalls(place, task), notes };
    case 'list':
      return { type: 'lines', text: runList(place, task), notes };
    case 'check':
      return { type: 'lines', text: runCheck(place, task), notes };
  }
}

/** Threads of Linux have numbers and priorities of their own; those of other systems don't. */
function threadNumber(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return 0;
  }
}

Atomics.store(state, shared.thread, threadNumber());
if (lowPriority) lowerPriority(threadNumber());

port.on('message', (message) => rpc.receive(message));
