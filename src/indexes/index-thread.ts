import { parentPort, workerData } from 'node:worker_threads';
import { CorruptRecord } from '../base/corrupt-record.js';
import { RequestError } from '../base/errors.js';
import { collectWhenIdle } from '../base/idle-memory.js';
import { Rpc } from '../base/rpc.js';
import { SystemRuntime } from '../base/runtime.js';
import { storageRefusal } from '../base/storage-errors.js';
import { ScriptHost } from '../script/script-host.js';
import { damagedRecord } from '../shard/damage.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { indexStoreOptions } from './index-damage.js';
import { Indexer } from './indexer.js';
import { OpenDocuments } from './open-documents.js';
import type { FailedView } from './index-job.js';
import type { Asked, Progress, Request, ThreadSettings } from './thread-messages.js';

/**
 * The thread that fills indexes. It reads documents from their volumes, has them mapped by the sandbox's threads, and is
 * the only one that writes to the index store. No user code runs on it: it is never terminated during a write.
 */
const settings = workerData as ThreadSettings;
const port = parentPort!;
const rpc = new Rpc<Asked, void, never, Request>(port, (request, note) =>
  carryOut(request, note).catch((error: unknown) => {
    throw refusalFor(error) ?? error;
  }),
);

const runtime = new SystemRuntime();
const scripts = new ScriptHost({
  runtime,
  threads: settings.threads,
  memory_bytes: settings.memory_bytes,
  timeoutMs: () => settings.timeout_ms,
  reduceLimit: () => settings.reduce_limit,
  lowPriority: true,
  keepsThread: true,
  log: (space, message) => rpc.tell({ type: 'log', space, message }),
});
const sharing = {
  release: () => rpc.call({ type: 'release' }),
  reopened: () => rpc.call({ type: 'reopened' }),
};
const store = new LmdbStore(settings.folder, sharing, runtime, indexStoreOptions);
const indexer = new Indexer(store, scripts, settings.threads + 1, runtime, settings.slot);
const documents = new OpenDocuments();

port.on('message', (message) => rpc.receive(message));
collectWhenIdle(runtime);

async function carryOut(
  request: Request,
  onProgress: (progress: Progress) => void,
): Promise<readonly FailedView[]> {
  switch (request.type) {
    case 'update':
      return documents
        .with(request.documents, (from) =>
          indexer.update(request.job, from, (done, total) => onProgress({ done, total })),
        )
        .finally(() => rpc.tell({ type: 'calls', counts: scripts.counts.takeMaps() }));
    case 'keep_only':
      await indexer.keepOnly(request.instance, request.signatures);
      break;
    case 'drop':
      await indexer.drop(request.instance);
      break;
    case 'discard':
      await indexer.discard(request.number, request.root);
      break;
    case 'released':
      await documents.release(request.folder);
      break;
    case 'settings':
      Object.assign(settings, request.settings);
      break;
    case 'warm':
      await scripts.warm();
      break;
    case 'renew':
      indexer.limits.forget();
      await scripts.renew();
      break;
    case 'close':
      await indexer.close();
      await documents.close();
      await store.close();
      port.unref();
  }
  return [];
}

function refusalFor(error: unknown): RequestError | undefined {
  if (error instanceof RequestError) return error;
  if (error instanceof CorruptRecord) return damagedRecord('the documents of an index', error);
  return storageRefusal(error);
}
