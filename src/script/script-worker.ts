import { readlinkSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { noBytes, type Bytes } from '../base/bytes.js';
import { collectWhenIdle } from '../base/idle-memory.js';
import { receiveTold, Rpc } from '../base/rpc.js';
import { SystemRuntime } from '../base/runtime.js';
import { clockMs, shared, type Continue, type Question, type Task } from './messages.js';
import { lowerPriority } from './priority.js';
import { Stopped, TaskRunner } from './task-runner.js';

/** The module of the threads of `script-thread.ts`. */
export interface ScriptWorkerData {
  wasm: WebAssembly.Module;
  memory_bytes: number;
  state: Int32Array;
  lowPriority: boolean;
}

const { wasm, memory_bytes, state, lowPriority } = workerData as ScriptWorkerData;
const port = parentPort!;

const hooks = {
  pause: () => void Atomics.store(state, shared.waiting, 1),
  tick: () => {
    Atomics.store(state, shared.since, clockMs());
    Atomics.store(state, shared.waiting, 0);
  },
  pull: () => {
    const answer = ask({ type: 'pull' });
    return 'rows' in answer ? answer.rows : noBytes;
  },
  push: (text: Bytes) => {
    ask({ type: 'push', text });
    return undefined;
  },
};

const runner = new TaskRunner(wasm, memory_bytes, hooks);
const rpc = new Rpc<Question, never, never, Task>(port, (task) => runner.run(task));

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
collectWhenIdle(new SystemRuntime());
