import { Unavailable } from '../base/errors.js';

/** The log has not confirmed a command in time. */
export class Unconfirmed extends Unavailable {}

/** Runs what has no other effect when it is run twice, again and again until the log confirms in time what it sends. */
export async function untilConfirmed<T>(run: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Unconfirmed)) throw error;
    }
}
