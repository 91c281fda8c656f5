import assert from 'node:assert/strict';
import http from 'node:http';
import { after, describe, test } from 'node:test';
import { notYet } from '../golden/not-yet.js';
import { replay } from '../golden/replay.js';
import { readFamilies } from '../golden/scenario.js';
import type { Target } from '../golden/send-step.js';
import { H2Client } from '../support/h2-client.js';
import { startTlsServer } from '../support/tls.js';

/** What holds over HTTP/1.1 holds over HTTP/2: the same conversations, of the families whose bodies differ most. */
const families = /^(?:attachments|bulk|documents|alldocs|http)-/;
/** Over TLS an address begins with https, whatever a proxy says; and the replicator does not trust the certificate. */
const different = new Set(['location-follows-forwarded-headers', 'multipart-replication-round-trip']);

const server = await startTlsServer();
const client = new H2Client(server.tlsUrl, {});
after(() => client.close());
const target: Target = {
  url: server.tlsUrl,
  credentials: 'admin:secret',
  agent: http.globalAgent,
  send: ({ method, path, headers, payload }) => client.send(method, path, headers, payload),
};

for (const { name, scenarios } of readFamilies()) {
  if (!families.test(name)) continue;
  describe(`${name} over HTTP/2`, () => {
    for (const scenario of scenarios) {
      if (notYet.has(scenario.name) || different.has(scenario.name)) continue;
      test(scenario.name, async () => {
        const fault = await replay(scenario, target);
        if (fault !== undefined) assert.fail(fault);
      });
    }
  });
}
