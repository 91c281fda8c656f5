import assert from 'node:assert/strict';
import type { Reply, Task } from '../../src/script/messages.js';
import type { TaskExecutor } from '../../src/script/scheduler.js';
import type { FinalReply } from '../../src/script/script-thread.js';
import { TaskRunner } from '../../src/script/task-runner.js';
import { compileEngine } from '../../src/script/vm.js';
import { outside } from './simulated-runtime.js';

const memory_bytes = 32 * 1024 * 1024;

const none = (): never => assert.fail('list functions are not simulated');
const hooks = { pause: () => undefined, tick: () => undefined, pull: none, push: none };

/** Functions keep nothing from one call to the next, so all simulations of a process share the sandboxes. */
let runner: Promise<TaskRunner> | undefined;

/** Runs functions of design documents in place of threads, one after the other. No simulated time passes meanwhile. */
export class InlineFunctions implements TaskExecutor {
  #last: Promise<unknown> = Promise.resolve();

  submit(task: Task): Promise<FinalReply> {
    runner ??= compileEngine().then((wasm) => new TaskRunner(wasm, memory_bytes, hooks));
    const reply: Promise<Reply> = this.#last.then(async () => (await runner!).run(task));
    this.#last = reply.catch(() => undefined);
    return outside(reply) as Promise<FinalReply>;
  }

  renew(): void {}

  async close(): Promise<void> {}
}
