/**
 * Node describes each call of `process.nextTick`, of which a request needs about ten, by an object of one shape. V8 forgets a
 * shape that no object has when all garbage is collected, and the place in Node that makes these objects is not prepared for
 * another: from then on it makes each of them eight times slower, which was 8 % of what the serving thread did. So one is kept.
 */
import { executionAsyncResource } from 'node:async_hooks';

let kept: object | undefined;

/** To be called as early as possible: what is forgotten by then stays so. */
export function keepTickShape(): void {
  if (kept === undefined) process.nextTick(() => (kept = executionAsyncResource()));
}
