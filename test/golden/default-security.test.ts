import http from 'node:http';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startServer, temporaryFolder } from '../support/server.js';
import { replay } from './replay.js';
import { readFamilies } from './scenario.js';

/**
 * CouchDB closes new databases to all but server admins, where the written interface opens them to everybody. What it
 * answered about replications without credentials is played on a server that is set up as CouchDB is.
 */
const config = { couchdb: { default_security: 'admin_only' } };
const client = await startServer({ dataDir: temporaryFolder(), config });
const agent = new http.Agent({ keepAlive: true });
after(() => agent.destroy());
const target = { url: client.url, credentials: 'admin:secret', agent };
const scenarios = readFamilies()
  .filter(({ name }) => /^replication-(oneshot|requests)/.test(name))
  .flatMap((family) => family.scenarios);

test('there is something to play', () => {
  assert.ok(scenarios.length > 30);
});

for (const scenario of scenarios) {
  test(scenario.name, async () => {
    const fault = await replay(scenario, target);
    if (fault !== undefined) assert.fail(fault);
  });
}
