/** A disk that fails at times: what could not be stored is refused with 503, and all else goes on. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ServerProcess } from '../long/server-process.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { Faults, withoutFaults, type FaultKind } from '../support/faults.js';
import { HttpClient, type Answer } from '../support/http-client.js';

const kinds: readonly FaultKind[] = ['short', 'sync', 'meta', 'write'];
const views = { v: { map: 'function(doc){ emit(doc._id, 1); }', reduce: '_count' } };

test(
  'what the disk refuses is 503 and not there, and the next write is stored',
  { skip: withoutFaults },
  async (t) => {
    const faults = new Faults(t);
    const server = await ServerProcess.start(t, { env: faults.env });
    const client = new HttpClient(server.url);
    assertOk(await client.put('/db?q=2'), 201);
    assertOk(await client.put('/db/_design/d', { views }), 201);
    const kept: string[] = [];
    const refused: string[] = [];
    const keep = async (id: string): Promise<void> => {
      assertOk(await client.put(`/db/${id}`, {}), 201);
      kept.push(id);
    };
    const view = (): Promise<Answer> => client.get('/db/_design/d/_view/v');
    await keep('first');
    assertOk(await view(), 200);

    for (const kind of kinds) {
      faults.begin([kind], 'documents');
      for (let i = 0; i < 2; i++) {
        const before = faults.count;
        const id = `refused-${kind}-${i}`;
        assertRefused(await client.put(`/db/${id}`, {}), 503, 'service_unavailable');
        assert.ok(faults.count > before, 'the fault was injected');
        refused.push(id);
        assertOk(await client.get('/db/first'), 200);
      }
      faults.begin([kind], 'catalogue');
      assertRefused(await client.put(`/refused-${kind}`), 503, 'service_unavailable');
      faults.begin([kind], 'indexes');
      await keep(kind);
      assertRefused(await view(), 503, 'service_unavailable');
      assertOk(await client.get(`/db/${kind}`), 200);
      faults.end();
      assert.equal((await view()).body.rows?.[0].value, kept.length, kind);
      assertOk(await client.put(`/made-${kind}`), 201);
      assertOk(await client.get(`/refused-${kind}`), 404);
      await keep(`after-${kind}`);
    }
    for (const kind of ['write', 'sync'] as const) {
      const upload = { raw: randomBytes(100_000), headers: { 'content-type': 'application/octet-stream' } };
      faults.begin([kind], 'attachments');
      assertRefused(await client.send('PUT', `/db/attached-${kind}/a`, upload), 503, 'service_unavailable');
      faults.end();
      assertOk(await client.get(`/db/attached-${kind}`), 404);
      assertOk(await client.send('PUT', `/db/attached-${kind}/a`, upload), 201);
    }
    assert.ok(server.isRunning, server.lastWords);

    await server.stop('SIGKILL');
    await server.start();
    const again = new HttpClient(server.url);
    for (const id of kept) assertOk(await again.get(`/db/${id}`), 200);
    for (const id of refused) assertOk(await again.get(`/db/${id}`), 404);
  },
);

test(
  'a server starts, and can be read, on a disk that cannot be synced',
  { skip: withoutFaults },
  async (t) => {
    const faults = new Faults(t);
    const server = await ServerProcess.start(t, { env: faults.env });
    const client = new HttpClient(server.url);
    assertOk(await client.put('/db'), 201);
    assertOk(await client.put('/db/kept', {}), 201);
    await server.stop('SIGKILL');
    faults.begin(['sync', 'write', 'meta'], 'attachments');
    await server.start();
    assertOk(await new HttpClient(server.url).get('/db/kept'), 200);
  },
);
