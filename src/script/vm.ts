import variant from '@jitl/quickjs-wasmfile-release-sync';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { noBytes, toBytes, type Bytes } from '../base/bytes.js';

/**
 * QuickJS in WebAssembly, by its plain functions: values are pointers into its memory, texts are UTF-8 that ends with a
 * NUL. Byte strings are copied into that memory as they are, which is what makes passing documents cheap; the library's
 * own classes would encode each text anew.
 *
 * The memory is bounded by its declaration. (The engine's own limit counts less than it uses.) Growing beyond fails
 * inside, as an exception that a function may even catch.
 */
type Pointer = number;

/** The part of the engine's functions that is used here. */
interface Ffi {
  QTS_NewRuntime(): Pointer;
  QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void;
  QTS_NewContext(runtime: Pointer, intrinsics: number): Pointer;
  QTS_FreeContext(context: Pointer): void;
  QTS_FreeValuePointer(context: Pointer, value: Pointer): void;
  QTS_FreeCString(context: Pointer, text: Pointer): void;
  QTS_NewString(context: Pointer, text: Pointer): Pointer;
  QTS_GetString(context: Pointer, value: Pointer): Pointer;
  QTS_GetUndefined(): Pointer;
  QTS_Call(context: Pointer, f: Pointer, self: Pointer, count: number, list: Pointer): Pointer;
  QTS_ResolveException(context: Pointer, value: Pointer): Pointer;
  QTS_Dump(context: Pointer, value: Pointer): Pointer;
  QTS_Eval(
    context: Pointer,
    code: Pointer,
    length: number,
    name: string,
    module: number,
    flags: number,
  ): Pointer;
  QTS_NewFunction(
    context: Pointer,
    name: string,
    parameters: number,
    isConstructor: boolean,
    id: number,
  ): Pointer;
  QTS_ArgvGetJSValueConstPointer(list: Pointer, index: number): Pointer;
}

interface Engine {
  _malloc(bytes: number): Pointer;
  _free(pointer: Pointer): void;
  callbacks: unknown;
}

/** The package's declarations are those of its CommonJS form, which is not the one that is imported here. */
const { importModuleLoader, importFFI } = variant as unknown as {
  importModuleLoader(): Promise<(options: unknown) => Promise<Engine>>;
  importFFI(): Promise<new (engine: Engine) => Ffi>;
};

/** Deep recursion beyond this is an exception inside. Much more would overflow the thread's own stack instead. */
const stackBytesMax = 128 * 1024;
const pageBytes = 65_536;
/** The engine declares this much for a start; it is not taken from the machine before it is used. */
export const leastMemoryBytes = 16 * 1024 * 1024;
const argumentsMax = 4;
const fullPart = 0.9;

/** The compiled engine, which threads may share. */
export async function compileEngine(): Promise<WebAssembly.Module> {
  const file = fileURLToPath(import.meta.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'));
  return await WebAssembly.compile(await readFile(file));
}

/** What went wrong inside the sandbox, outside of any function that could have caught it. */
export class VmException extends Error {}

/** A function of this side that the sandbox may call. Gets a text, gives a text or nothing. */
export type HostFunction = (text: Bytes) => Bytes | undefined;

export class Vm {
  readonly #runtime: Pointer;
  readonly #hostFunctions = new Map<number, { context: Pointer; run: HostFunction; takesText: boolean }>();
  #hostFunctionIds = 0;
  readonly #list: Pointer;
  #heap: Buffer;

  private constructor(
    private readonly ffi: Ffi,
    private readonly engine: Engine,
    private readonly memory: WebAssembly.Memory,
    private readonly memoryBytesMax: number,
  ) {
    engine.callbacks = {
      callFunction: (
        _: unknown,
        _context: Pointer,
        _self: Pointer,
        count: number,
        list: Pointer,
        id: number,
      ) => this.#callHost(id, count, list),
      shouldInterrupt: () => 0,
      freeHostRef: () => {},
      loadModuleSource: () => 0,
      normalizeModule: () => 0,
    };
    this.#runtime = ffi.QTS_NewRuntime();
    ffi.QTS_RuntimeSetMaxStackSize(this.#runtime, stackBytesMax);
    this.#list = engine._malloc(argumentsMax * 4);
    this.#heap = Buffer.from(memory.buffer);
  }

  static async create(wasm: WebAssembly.Module, memory_bytes: number): Promise<Vm> {
    const [load, Functions] = await Promise.all([importModuleLoader(), importFFI()]);
    const most = Math.max(memory_bytes, leastMemoryBytes);
    const memory = new WebAssembly.Memory({
      initial: leastMemoryBytes / pageBytes,
      maximum: Math.ceil(most / pageBytes),
    });
    const engine = await load({
      wasmMemory: memory,
      instantiateWasm: (
        imports: WebAssembly.Imports,
        done: (instance: WebAssembly.Instance, wasm: WebAssembly.Module) => void,
      ) => {
        const instance = new WebAssembly.Instance(wasm, imports);
        done(instance, wasm);
        return instance.exports;
      },
      print: () => {},
      printErr: () => {},
    });
    return new Vm(new Functions(engine), engine, memory, most);
  }

  get memory_bytes(): number {
    return this.memory.buffer.byteLength;
  }

  /** Whether the memory has grown about as far as it may: the engine grows it in steps, and the last may not fit. */
  get isFull(): boolean {
    return this.memory_bytes > this.memoryBytesMax * fullPart;
  }

  newContext(): Pointer {
    return this.ffi.QTS_NewContext(this.#runtime, 0);
  }

  freeContext(context: Pointer): void {
    for (const [id, each] of this.#hostFunctions)
      if (each.context === context) this.#hostFunctions.delete(id);
    this.ffi.QTS_FreeContext(context);
  }

  /** The value of a program, to be called. */
  evaluate(context: Pointer, code: string): Pointer {
    const bytes = toBytes(code);
    const at = this.#write(bytes);
    const value = this.ffi.QTS_Eval(context, at, bytes.length, 'tuffet', 0, 0);
    this.engine._free(at);
    return this.#checked(context, value);
  }

  /** A function for the sandbox that runs `run` on this side. */
  hostFunction(context: Pointer, run: HostFunction, { takesText }: { takesText: boolean }): Pointer {
    const id = ++this.#hostFunctionIds;
    this.#hostFunctions.set(id, { context, run, takesText });
    return this.ffi.QTS_NewFunction(context, 'host', takesText ? 1 : 0, false, id);
  }

  /** Calls with values that are here already, and gives the value back. */
  callValue(context: Pointer, f: Pointer, values: readonly Pointer[]): Pointer {
    for (const [i, value] of values.entries()) this.#bytes().writeUInt32LE(value, this.#list + 4 * i);
    const result = this.ffi.QTS_Call(context, f, this.ffi.QTS_GetUndefined(), values.length, this.#list);
    return this.#checked(context, result);
  }

  /** Calls with texts, and gives the text that comes back. Neither may hold a NUL, which JSON never does. */
  call(context: Pointer, f: Pointer, texts: readonly Bytes[]): Bytes {
    const values = texts.map((text) => this.#newString(context, text));
    try {
      const result = this.callValue(context, f, values);
      const text = this.#readString(context, result);
      this.ffi.QTS_FreeValuePointer(context, result);
      return text;
    } finally {
      for (const value of values) this.ffi.QTS_FreeValuePointer(context, value);
    }
  }

  #callHost(id: number, count: number, list: Pointer): Pointer {
    const { context, run, takesText } = this.#hostFunctions.get(id)!;
    const given = takesText && count > 0;
    const text = given
      ? this.#readString(context, this.ffi.QTS_ArgvGetJSValueConstPointer(list, 0))
      : noBytes;
    const answer = run(text);
    return answer === undefined ? 0 : this.#newString(context, answer);
  }

  #newString(context: Pointer, text: Bytes): Pointer {
    const at = this.#write(text);
    const value = this.ffi.QTS_NewString(context, at);
    this.engine._free(at);
    return this.#checked(context, value);
  }

  #readString(context: Pointer, value: Pointer): Bytes {
    const at = this.ffi.QTS_GetString(context, value);
    if (at === 0) throw new VmException('out of memory');
    const heap = this.#bytes();
    const text = heap.latin1Slice(at, heap.indexOf(0, at));
    this.ffi.QTS_FreeCString(context, at);
    return text;
  }

  #write(bytes: Bytes): Pointer {
    const at = this.engine._malloc(bytes.length + 1);
    if (at === 0) throw new VmException('out of memory');
    const heap = this.#bytes();
    heap.latin1Write(bytes, at);
    heap[at + bytes.length] = 0;
    return at;
  }

  /** Growing replaces the buffer. */
  #bytes(): Buffer {
    if (this.#heap.buffer !== this.memory.buffer) this.#heap = Buffer.from(this.memory.buffer);
    return this.#heap;
  }

  #checked(context: Pointer, value: Pointer): Pointer {
    const thrown = this.ffi.QTS_ResolveException(context, value);
    if (thrown === 0) return value;
    const text = this.ffi.QTS_Dump(context, thrown);
    const heap = this.#bytes();
    throw new VmException(text === 0 ? 'out of memory' : heap.latin1Slice(text, heap.indexOf(0, text)));
  }
}
