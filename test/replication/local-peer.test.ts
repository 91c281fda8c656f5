import { SystemRuntime } from '../../src/base/runtime.js';
import { after, describe } from 'node:test';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import { Config } from '../../src/config/config.js';
import { makeDatabase } from '../../src/http/request/make-database.js';
import { makePeer } from '../../src/replication/peers.js';
import { ReplicatorCounts } from '../../src/replication/replicator-counts.js';
import { parseSpec } from '../../src/replication/spec.js';
import { ScriptHost } from '../../src/script/script-host.js';
import { memoryViews } from '../support/views.js';
import { peerSuite } from './peer-suite.js';

const logger = createLogger({ level: 'none' });
const config = new Config({ overrides: { couchdb: { max_document_size: '10000' } } });
const registry = new DatabaseRegistry(config, logger, undefined, new MemoryBlobStore(), memoryViews(logger));
const scripts = new ScriptHost({
  runtime: new SystemRuntime(),
  threads: 1,
  memory_bytes: 32 * 1024 * 1024,
  timeoutMs: () => 5_000,
  log: () => undefined,
});
after(async () => {
  await registry.close();
  await scripts.close();
});
const user = { name: 'admin', roles: ['_admin'] };

describe('a database of this server', () => {
  peerSuite((name) => {
    const controller = new AbortController();
    const spec = parseSpec({ source: name, target: name }, { config, user, localNames: true });
    const peer = makePeer(
      {
        runtime: registry.runtime,
        config,
        registry: () => registry,
        scripts,
        makeDatabase: (each, params) => makeDatabase(registry, config, each, new Map(Object.entries(params))),
        userAgent: 'test',
        counts: new ReplicatorCounts(),
      },
      spec.source,
      spec,
      controller.signal,
    );
    const close = peer.close.bind(peer);
    peer.close = () => {
      controller.abort();
      return close();
    };
    return peer;
  });
});
