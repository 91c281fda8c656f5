import { SystemRuntime } from '../base/runtime.js';
import { parentPort, workerData } from 'node:worker_threads';
import { CorruptRecord } from '../base/corrupt-record.js';
import { RequestError, refusalData } from '../base/errors.js';
import { storageRefusal } from '../base/storage-errors.js';
import { ScriptHost } from '../script/script-host.js';
import { damagedRecord } from '../shard/damage.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { indexStoreOptions } from './index-damage.js';
import { Indexer } from './indexer.js';
import { OpenDocuments } from './open-documents.js';
import type { FailedView } from './index-job.js';
import type { Numbered, Reply, ThreadSettings } from './thread-messages.js';

/**
 * The thread that fills indexes. It reads documents from their volumes, has them mapped by the sandbox's threads, and is
 * the only one that writes to the index store. No user code runs on it: it is never terminated during a write.
 */
const port = parentPort!;
const settings = workerData as ThreadSettings;
const say = (reply: Reply): void => port.postMessage(reply);

const runtime = new SystemRuntime();
const scripts = new ScriptHost({
  runtime,
  threads: settings.threads,
  memory_bytes: settings.memory_bytes,
  timeoutMs: () => settings.timeout_ms,
  reduceLimit: () => settings.reduce_limit,
  lowPriority: true,
  log: (space, message) => say({ type: 'log', space, message }),
});
/** Called when the serving thread has done what was asked of it. */
let onAnswer: () => void = () => undefined;
const askServer = (reply: Reply): Promise<void> =>
  new Promise((resolve) => {
    onAnswer = resolve;
    say(reply);
  });
const sharing = {
  release: () => askServer({ type: 'release' }),
  reopened: () => askServer({ type: 'reopened' }),
};
const store = new LmdbStore(settings.folder, sharing, runtime, indexStoreOptions);
const indexer = new Indexer(store, scripts, settings.threads + 1, runtime);
const documents = new OpenDocuments();

port.on('message', (request: Numbered) => {
  carryOut(request).then(
    (failed) => say({ type: 'done', id: request.id, failed: failed ?? [] }),
    (error: unknown) => sayFailure(request.id, error),
  );
});

async function carryOut(request: Numbered): Promise<readonly FailedView[] | undefined> {
  switch (request.type) {
    case 'update':
      return documents.with(request.documents, (from) =>
        indexer.update(request.job, from, (done, total) =>
          say({ type: 'progress', id: request.id, done, total }),
        ),
      );
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
    case 'renew':
      indexer.limits.forget();
      await scripts.renew();
      break;
    case 'store_released':
    case 'store_resumed':
      onAnswer();
      break;
    case 'close':
      await indexer.close();
      await documents.close();
      await store.close();
      port.unref();
  }
  return undefined;
}

function sayFailure(id: number, error: unknown): void {
  const refusal =
    error instanceof RequestError
      ? error
      : error instanceof CorruptRecord
        ? damagedRecord('the documents of an index', error)
        : storageRefusal(error);
  if (refusal !== undefined) say({ type: 'refused', id, refusal: refusalData(refusal) });
  else
    say({
      type: 'failed',
      id,
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
}
