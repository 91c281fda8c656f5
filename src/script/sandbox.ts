import { asBytes, noBytes, type Bytes } from '../base/bytes.js';
import type { Operation } from './inside/program.js';
import { scopePrograms } from './scope-programs.js';
import { leastMemoryBytes, Vm, VmException, type HostFunction } from './vm.js';

/** What the sandbox calls on this side. */
export interface SandboxHooks {
  /** What follows is not a function's own time. */
  pause: () => void;
  /** A call of a function begins. */
  tick: () => void;
  pull: HostFunction;
  push: HostFunction;
}

/** A function failed by a name of its own, or could not be compiled. */
export class FunctionFailed extends Error {
  constructor(
    readonly error: string,
    readonly reason: unknown,
  ) {
    super(error);
  }
}

/** The memory is exhausted or the engine's state is undefined. The sandbox can't be used any more. */
export class Exhausted extends Error {}

interface Scope {
  context: number;
  enter: number;
}

/** Programs kept ready; each has some 200 KB. */
const scopesMax = 12;

/**
 * The functions of one database on one thread: an engine with memory of its own, and in it a global scope for each
 * program (a design document, its map functions, a reduce function), so that programs don't meet by accident either.
 */
export class Sandbox {
  /** The longest unused first. */
  readonly #scopes = new Map<string, Scope>();
  readonly #notes: unknown[] = [];

  private constructor(
    private readonly vm: Vm,
    private readonly hooks: SandboxHooks,
  ) {}

  static async create(wasm: WebAssembly.Module, memory_bytes: number, hooks: SandboxHooks): Promise<Sandbox> {
    return new Sandbox(await Vm.create(wasm, memory_bytes), hooks);
  }

  /** Whether it holds memory that it is unlikely to need again; memory once taken is only given back as a whole. */
  get isBloated(): boolean {
    return this.vm.memory_bytes > 2 * leastMemoryBytes;
  }

  has(id: string): boolean {
    return this.#scopes.has(id);
  }

  /** Makes the scope of a program, and prepares it. */
  open(id: string, operation: Operation | undefined, texts: readonly Bytes[]): void {
    if (this.#scopes.size >= scopesMax) this.close(this.#scopes.keys().next().value!);
    this.hooks.pause();
    const scope = this.#guarded(() => this.#newScope(), this.#scopes.size > 0);
    this.hooks.tick();
    this.#scopes.set(id, scope);
    if (operation === undefined) return;
    try {
      this.ask(id, operation, texts);
    } catch (error) {
      if (error instanceof FunctionFailed) this.close(id);
      throw error;
    }
  }

  close(id: string): void {
    const scope = this.#scopes.get(id);
    this.#scopes.delete(id);
    if (scope !== undefined) this.#guarded(() => this.vm.freeContext(scope.context));
  }

  /** Runs an operation in a program's scope. */
  ask(id: string, operation: Operation, texts: readonly Bytes[]): Bytes {
    const scope = this.#scopes.get(id)!;
    this.#scopes.delete(id);
    this.#scopes.set(id, scope);
    const [a = noBytes, b = noBytes, c = noBytes] = texts;
    const answer = this.#guarded(() =>
      this.vm.call(scope.context, scope.enter, [asBytes(operation), a, b, c]),
    );
    const line = answer.indexOf('\n');
    const notes = answer.slice(1, line);
    if (notes !== '[]') this.#notes.push(...(parseBytes(notes) as unknown[]));
    const result = answer.slice(line + 1);
    if (answer.startsWith('+')) return result;
    const [error, reason] = parseBytes(result) as [string, unknown];
    throw new FunctionFailed(error, reason);
  }

  /** What functions logged since the last call. */
  takeNotes(): unknown[] {
    return this.#notes.splice(0);
  }

  #newScope(): Scope {
    const { vm, hooks } = this;
    const context = vm.newContext();
    const host = [
      vm.hostFunction(context, () => void hooks.tick(), { takesText: false }),
      vm.hostFunction(context, hooks.pull, { takesText: false }),
      vm.hostFunction(context, hooks.push, { takesText: true }),
      vm.hostFunction(context, () => (vm.isFull ? undefined : asBytes('1')), { takesText: false }),
    ];
    const values = scopePrograms.map((program) => vm.evaluate(context, program));
    const enter = vm.callValue(context, values.at(-1)!, host);
    return { context, enter };
  }

  /**
   * The engine's own stack may overflow, or it may trip over missing memory: those are not its exceptions but ours. Only
   * in a sandbox where nothing has run yet there is no function to blame.
   */
  #guarded<T>(work: () => T, used = true): T {
    try {
      return work();
    } catch (error) {
      if (!used) throw new Error('a sandbox could not be set up', { cause: error });
      if (
        error instanceof VmException ||
        error instanceof RangeError ||
        error instanceof WebAssembly.RuntimeError
      )
        throw new Exhausted(error.message);
      throw error;
    }
  }
}

function parseBytes(text: Bytes): unknown {
  return JSON.parse(Buffer.from(text, 'latin1').toString());
}
