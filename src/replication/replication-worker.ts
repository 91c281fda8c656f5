import { parentPort } from 'node:worker_threads';
import { Rpc } from '../base/rpc.js';
import type { LocalDoc } from './peer.js';
import { RemoteRun } from './remote-run.js';
import type { Report, ThreadRequest } from './replication-thread.js';

/** The module of the thread of `replication-thread.ts`. */
const runs = new Map<number, RemoteRun>();

async function handle(asked: ThreadRequest, note: (report: Report) => void): Promise<LocalDoc | undefined> {
  if (asked.kind === 'open') {
    const begun = new RemoteRun(asked.setup);
    runs.set(asked.run, begun);
    await begun.open(note);
    return undefined;
  }
  const run = runs.get(asked.run);
  // It could not even be begun.
  if (run === undefined) return undefined;
  switch (asked.kind) {
    case 'run':
      return await run.run(note);
    case 'checkpoint':
      await run.checkpoint(note);
      return undefined;
    case 'close':
      runs.delete(asked.run);
      await run.close();
      return undefined;
  }
}

const port = parentPort!;
const rpc = new Rpc<never, never, never, ThreadRequest>(port, handle);
port.on('message', (message) => rpc.receive(message));
