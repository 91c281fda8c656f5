import type { Runtime } from '../base/runtime.js';
import type { IndexBackends } from './index-backends.js';
import { treesBytes } from './index-register.js';

/** How long the bytes of all trees are taken for what they were: there may be very many. */
const keptMs = 5_000;

/** What falls to an index of the files that all indexes share: all that is not in trees, and free room, is shared out. */
export class FileShare {
  #known: { bytes: number; at: number } | undefined;
  #reckoning: Promise<number> | undefined;
  #version = 0;
  #closed = false;

  constructor(
    private readonly runtime: Runtime,
    private readonly backends: IndexBackends,
  ) {}

  /** For so many bytes of trees. */
  async of(bytes: number): Promise<number> {
    if (bytes === 0 || this.backends.size() === undefined) return bytes;
    // They may have grown since they were added up.
    const trees = Math.max(bytes, await this.#treesBytes());
    const file = this.#closed ? undefined : this.backends.size();
    return file === undefined ? bytes : Math.max(bytes, Math.ceil((bytes * file.file_bytes) / trees));
  }

  /** Trees were removed, or the file was replaced: the next answer waits for what there is now. */
  forget(): void {
    this.#version++;
    this.#known = this.#reckoning = undefined;
  }

  /** Stops reading the store. */
  close(): void {
    this.#closed = true;
  }

  /** As they were last, while they are added up anew. */
  #treesBytes(): number | Promise<number> {
    const known = this.#known;
    if (known !== undefined && this.runtime.monotonicMs() - known.at < keptMs) return known.bytes;
    this.#reckoning ??= this.#reckon();
    return known?.bytes ?? this.#reckoning;
  }

  async #allTreesBytes(): Promise<number> {
    const slice = this.runtime.slice();
    let bytes = 0;
    for (const backend of this.backends.all)
      if (backend.size() !== undefined) bytes += await treesBytes(backend, slice, () => this.#closed);
    return bytes;
  }

  #reckon(): Promise<number> {
    const version = this.#version;
    const reckoning = this.#allTreesBytes()
      .then((bytes) => {
        if (version === this.#version) this.#known = { bytes, at: this.runtime.monotonicMs() };
        return bytes;
      })
      .finally(() => {
        if (version === this.#version) this.#reckoning = undefined;
      });
    // Those who don't wait for it have an answer.
    reckoning.catch(() => {});
    return reckoning;
  }
}
