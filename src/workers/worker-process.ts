import type { Socket } from 'node:net';
import { collectWhenIdle } from '../base/idle-memory.js';
import { Rpc } from '../base/rpc.js';
import { SystemRuntime } from '../base/runtime.js';
import type { Granted, OwnerMessage, WorkerMessage } from './messages.js';
import { WorkerServer } from './worker-server.js';

/**
 * The program of a worker: a process that serves connections of a server whose data folder another process owns. It ends when
 * that process does, however that came about.
 */
let server: WorkerServer | undefined;

const port = {
  postMessage: (message: unknown) => void process.send?.(message, undefined, undefined, () => undefined),
};
const rpc = new Rpc<WorkerMessage, Granted | undefined, never, OwnerMessage>(port, handleMessage);

process.on('message', (message, socket) => {
  if (message !== 'connection') return rpc.receive(message);
  if (socket !== undefined) server?.give(socket as Socket);
  // It was closed on its way.
  else rpc.tell({ type: 'closed', connections: 1 });
});
process.on('disconnect', () => process.exit(0));
collectWhenIdle(new SystemRuntime());
// The owner may have ended before this was loaded.
if (!process.connected) process.exit(0);
// Signals from a terminal go to all processes; the owner of the data folder is the one that heeds them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

function handleMessage(message: OwnerMessage): unknown {
  switch (message.type) {
    case 'start':
      server = new WorkerServer(message.settings, {
        tell: (told) => rpc.tell(told),
        requestPermit: (request) => rpc.call({ type: 'permit', request }),
      });
      return undefined;
    case 'config':
      return server?.configure(message.config, message.logsRequests);
    case 'release':
      return server?.release(message.folder, message.next);
    case 'ended':
      return server?.end(message.group);
    case 'report':
      return server?.report();
    case 'close':
      return server?.close();
  }
}
