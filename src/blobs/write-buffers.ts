/** What goes to the disk and to the hashes at once. The fewer pieces, the fewer times two threads wake each other. */
const largeBytes = 512 * 1024;

/** What those get who come when many are at work: memory matters more to them than speed. */
const smallBytes = 64 * 1024;

/** Uploads at once that have large buffers, two each. */
const largeMax = 24;

/** Large buffers kept for the next upload: new memory has to be fetched from the system page by page. */
const freeMax = 12;

/** The buffers of one upload, all of one size. */
export interface UploadBuffers {
  take(): Buffer;
  /** A buffer from `take`, whole, or what another thread gave back for it. */
  give(buffer: Buffer): void;
  /** To be called once. */
  end(): void;
}

/** Buffers for any number of uploads. */
export class WriteBuffers {
  readonly #free: Buffer[] = [];
  #large = 0;

  begin(): UploadBuffers {
    if (this.#large >= largeMax) {
      return {
        take: () => Buffer.allocUnsafeSlow(smallBytes),
        give: () => undefined,
        end: () => undefined,
      };
    }
    this.#large++;
    return {
      take: () => this.#free.pop() ?? Buffer.allocUnsafeSlow(largeBytes),
      give: (buffer) => {
        if (this.#free.length < freeMax) this.#free.push(buffer);
      },
      end: () => void this.#large--,
    };
  }
}
