import { fail } from '../answer/error-answer.js';
import type { Exchange } from '../exchange.js';
import { NoRoom } from '../connection/memory-budgets.js';
import { route } from './router.js';

/** Has a request answered, at once or in a turn of the event loop that has time for it. */
export function runRoute(exchange: Exchange): void {
  const { runtime } = exchange;
  if (runtime.isTurnFull) void runtime.nextTurn().then(() => runNow(exchange));
  else runNow(exchange);
}

/** Has a request answered by the handler of its route, or by an error. */
function runNow(exchange: Exchange): void {
  try {
    const work = route(exchange);
    if (work instanceof Promise)
      work.then(
        () => exchange.finished(),
        (error: unknown) => failed(exchange, error),
      );
    else exchange.finished();
  } catch (error) {
    failed(exchange, error);
  }
}

function failed(exchange: Exchange, error: unknown): void {
  if (isRepeatable(exchange, error)) return void runAgain(exchange, error);
  fail(exchange, error);
  exchange.finished();
}

/** Whether a request only reads, and its answer found no room in the memory. */
const isRepeatable = ({ method, response }: Exchange, error: unknown): error is NoRoom =>
  error instanceof NoRoom && method === 'GET' && !response.headersSent;

/** Makes the answer once more when there is room for it; until then nothing is held for it. */
async function runAgain(exchange: Exchange, refusal: NoRoom): Promise<void> {
  if ((await refusal.share.grow(refusal.bytes)) && !exchange.response.destroyed) return runNow(exchange);
  fail(exchange, refusal);
  exchange.finished();
}
