import { SystemRuntime } from '../../src/base/runtime.js';
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Config } from '../../src/config/config.js';
import type { Peer } from '../../src/replication/peer.js';
import { makePeer } from '../../src/replication/peers.js';
import { ReplicatorCounts } from '../../src/replication/replicator-counts.js';
import { parseSpec } from '../../src/replication/spec.js';
import type { ScriptHost } from '../../src/script/script-host.js';
import { startServer, temporaryFolder } from '../support/server.js';
import { peerSuite } from './peer-suite.js';

const client = await startServer({
  dataDir: temporaryFolder(),
  config: { couchdb: { max_document_size: '10000' } },
});
const config = new Config();
const user = { name: 'admin', roles: ['_admin'] };

function open(name: string, options: Record<string, unknown>): Peer {
  const controller = new AbortController();
  const source = `${client.urlWithCredentials}/${name}`;
  const spec = parseSpec({ source, target: source, ...options }, { config, user, localNames: false });
  const unused = (): never => assert.fail();
  const host = {
    runtime: new SystemRuntime(),
    config,
    registry: unused,
    makeDatabase: unused,
    userAgent: 'test',
    counts: new ReplicatorCounts(),
    scripts: {} as ScriptHost,
  };
  const peer = makePeer(host, spec.source, spec, controller.signal);
  const close = peer.close.bind(peer);
  peer.close = () => {
    controller.abort();
    return close();
  };
  return peer;
}

describe('a database behind HTTP', () => {
  peerSuite((name) => open(name, {}));
});

describe('a database behind HTTP, read document by document', () => {
  peerSuite((name) => open(`single-${name}`, { use_bulk_get: false }));
});
