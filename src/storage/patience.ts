import type { Runtime, Timer } from '../base/runtime.js';

/** How long a batch without a waiting caller stays open, so that steps which come meanwhile share its commit. */
const patienceMs = 10;

/** Whether anybody waits for the batch that is being put together. */
export class Patience {
  #isOver = false;
  #timer: Timer | undefined;

  constructor(
    private readonly runtime: Runtime,
    /** Called when a batch has stayed open for long enough. */
    private readonly onEnd: () => void,
  ) {}

  /** Set from when somebody waits for the batch, or it has stayed open for long enough. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** A step without a waiting caller was added to the batch. */
  begin(): void {
    if (!this.#isOver) this.#timer ??= this.runtime.setTimer(this.onEnd, patienceMs);
  }

  end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Another batch is begun. */
  reset(): void {
    this.end();
    this.#isOver = false;
  }
}
