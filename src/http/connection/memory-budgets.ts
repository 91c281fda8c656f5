import type { Runtime } from '../../base/runtime.js';
import { Budget, type Share } from '../../base/budget.js';
import { machineMemory } from '../../base/machine-memory.js';
import { Unavailable } from '../../base/errors.js';
import type { Config } from '../../config/config.js';

/** How long a request waits for room before it is refused. */
const waitMs = 30_000;
/** No budget takes more than this part of the machine's memory. */
const memoryPart = 1 / 8;

/** Bodies and answers up to this size are not counted: small requests are served however busy large ones keep the server. */
export const uncountedBytes = { body: 64 * 1024, answer: 256 * 1024 };

/** What the requests under way may hold in memory together. */
export class MemoryBudgets {
  /** Bodies, from their first byte until the request is done. */
  readonly bodies: Budget;
  /** Answers, or pieces of them, that clients have yet to take. */
  readonly answers: Budget;

  constructor(config: Config, runtime: Runtime) {
    const most = memoryPart * machineMemory();
    this.bodies = new Budget(
      () => Math.min(most, config.number('tuffet/request_memory_bytes')),
      waitMs,
      runtime,
    );
    this.answers = new Budget(
      () => Math.min(most, config.number('tuffet/answer_memory_bytes')),
      waitMs,
      runtime,
    );
  }
}

/** What is larger than all that is free now; a later try may succeed. */
export class NoRoom extends Unavailable {
  constructor(
    readonly share: Share,
    readonly bytes: number,
  ) {
    super('The server holds as much for slow clients as it can; try again later.');
  }
}

/** Counts what a body has grown to; refuses where there is no room for more. */
export function countBody(share: Share, bytes: number): void {
  const missing = bytes - uncountedBytes.body - share.bytes;
  if (missing > 0 && !share.tryGrow(Math.max(missing, growBytes))) throw noRoomForBody();
}

/** Bodies of unknown length take room in steps of this size. */
export const growBytes = 1024 * 1024;

export const noRoomForBody = (): Unavailable =>
  new Unavailable('The server holds as many request bodies as it can; try again later.');
