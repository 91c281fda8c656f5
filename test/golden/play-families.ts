import assert from 'node:assert/strict';
import http from 'node:http';
import { after, describe, test } from 'node:test';
import { startServer, temporaryFolder } from '../support/server.js';
import { notYet } from './not-yet.js';
import { replay } from './replay.js';
import type { Family } from './scenario.js';

/**
 * Plays what a real CouchDB answered, request by request, with what the written interface says where the two differ. A
 * scenario that needs what is not built yet is skipped, but has to fail: once it passes, it leaves the list.
 */
export async function playFamilies(families: readonly Family[]): Promise<void> {
  // Whether a proxy is believed is to be said here, where CouchDB always believes it.
  const config = { chttpd: { x_forwarded_host: 'X-Forwarded-Host' } };
  const client = await startServer({ dataDir: temporaryFolder(), config });
  playOn(client.url, families);
}

/** Plays them on a server that runs. */
export function playOn(url: string, families: readonly Family[], notThere = notYet): void {
  // With workers, each request comes over another connection, and so to another process.
  const agent = new http.Agent({ keepAlive: process.env['TUFFET_WORKERS'] === undefined });
  const target = { url, credentials: 'admin:secret', agent };
  after(() => agent.destroy());
  for (const { name, scenarios } of families) {
    describe(name, () => {
      for (const scenario of scenarios) {
        test(scenario.name, async (t) => {
          const fault = await replay(scenario, target);
          const reason = notThere.get(scenario.name);
          if (reason !== undefined) {
            assert.notEqual(fault, undefined, 'the scenario passes now: take it off the list in not-yet.ts');
            t.skip(reason);
          } else if (fault !== undefined) assert.fail(fault);
        });
      }
    });
  }
}
