import type { Runtime, Timer } from '../base/runtime.js';
/** Does the work when it is first asked for, and never again. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}

/** How long after a change of accounts feeds are looked at again; many changes are followed by one look. */
const recheckAfterMs = 200;

export function soon(work: () => void, runtime: Runtime): () => void {
  let timer: Timer | undefined;
  return () => {
    timer ??= runtime.setIdleTimer(() => {
      timer = undefined;
      work();
    }, recheckAfterMs);
  };
}
