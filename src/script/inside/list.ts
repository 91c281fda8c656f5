import type { Caller } from './calls.js';
import type { Core } from './core.js';
import type { FunctionRequest, Responses } from './responses.js';

export interface Lister {
  getRow: () => unknown;
  run: (path: string, list: string) => string;
}

/**
 * List functions, which pull rows and push text. Rows come in batches (`pull`: JSON of an array, or nothing when there are
 * no more); what the function sends goes out (`push`: JSON of `["start",…]`, then of `["chunk",…]`) before it waits for
 * more rows.
 */
export function makeLister(
  { apply, parse, stringify }: Core,
  responses: Responses,
  caller: Caller,
  pull: () => string | undefined,
  push: (text: string) => void,
  tick: () => void,
): Lister {
  let rows: unknown[] = [];
  let next = 0;
  let done = true;
  let started = false;

  /** The head is the function's to change until something follows it. */
  const flush = (isEnd: boolean): void => {
    const text = responses.takeChunks();
    if (text === '' && !isEnd) return;
    if (!started) push(stringify(['start', responses.head()]));
    started = true;
    if (text !== '') push(stringify(['chunk', text]));
  };

  return {
    getRow: () => {
      tick();
      if (next < rows.length) return rows[next++];
      if (done) return null;
      flush(false);
      const batch = pull();
      rows = batch === undefined || batch === '' ? [] : (parse(batch) as unknown[]);
      next = 0;
      done = rows.length === 0;
      return done ? null : rows[next++];
    },
    run: (path, list) => {
      const { run } = caller.find(path);
      const given = parse(list) as unknown[];
      responses.reset();
      rows = [];
      done = started = false;
      tick();
      try {
        const returned = apply(run, caller.ddoc(), given);
        const tail = responses.rendered(returned, given[1] as FunctionRequest);
        if (tail !== undefined && tail !== null) responses.send(tail);
        flush(true);
      } finally {
        done = true;
        rows = [];
      }
      return 'null';
    },
  };
}
