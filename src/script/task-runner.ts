import { BoundedMap } from '../base/bounded-map.js';
import { MapMemory } from './map-memory.js';
import type { Reply, Task } from './messages.js';
import { runMap } from './run-map.js';
import { MissingProgram, runCalls, runCheck, runList, runReduce, type SandboxPlace } from './run-task.js';
import { Exhausted, FunctionFailed, Sandbox, type SandboxHooks } from './sandbox.js';

/** Databases whose sandboxes are kept, the longest unused first. */
const sandboxesMax = 3;

/** To be thrown by `push` and `pull`: the client of a list function is gone. */
export class Stopped extends Error {}

/** Does one task after the other, each in the sandbox of its database. */
export class TaskRunner {
  readonly #sandboxes = new BoundedMap<string, Sandbox>(sandboxesMax);
  readonly #maps = new MapMemory();

  constructor(
    private readonly wasm: WebAssembly.Module,
    private readonly memory_bytes: number,
    private readonly hooks: SandboxHooks,
  ) {}

  async run(task: Task): Promise<Reply> {
    this.hooks.pause();
    const place = await this.#placeOf(task.space);
    this.hooks.tick();
    const notes: string[] = [];
    const takeNotes = (): string[] => [...notes, ...place.sandbox.takeNotes().map(String)];
    try {
      const reply = await perform(task, place, notes);
      this.#keep(task.space, place.sandbox);
      return 'notes' in reply ? { ...reply, notes: takeNotes() } : reply;
    } catch (error) {
      if (error instanceof MissingProgram || error instanceof FunctionFailed)
        this.#keep(task.space, place.sandbox);
      if (error instanceof MissingProgram) return { type: 'missing' };
      if (error instanceof FunctionFailed)
        return { type: 'failed', error: error.error, reason: error.reason, notes: takeNotes() };
      this.#sandboxes.delete(task.space);
      if (error instanceof Exhausted || error instanceof Stopped)
        return { type: 'exhausted', notes: takeNotes() };
      throw error;
    }
  }

  async #placeOf(space: string): Promise<SandboxPlace> {
    const { wasm, memory_bytes, hooks } = this;
    const make = (): Promise<Sandbox> => Sandbox.create(wasm, memory_bytes, hooks);
    const place = {
      maps: this.#maps,
      sandbox: this.#sandboxes.get(space) ?? (await make()),
      // Four times what one call could ever give back.
      resultBytesMax: 4 * memory_bytes,
      renew: async () => {
        this.#sandboxes.delete(space);
        hooks.pause();
        place.sandbox = await make();
        hooks.tick();
      },
    };
    return place;
  }

  /** Keeps a sandbox for the next task, unless it has grown large. */
  #keep(space: string, sandbox: Sandbox): void {
    if (sandbox.isBloated) this.#sandboxes.delete(space);
    else this.#sandboxes.set(space, sandbox);
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
