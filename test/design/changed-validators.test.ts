import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { createServer } from '../../src/server/create-server.js';
import { decodeGroupState, encodeGroupState } from '../../src/shard/group-state.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import { validatorsToken } from '../../src/shard/validators.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { assertOk, assertRefused } from '../support/expect.js';
import { HttpClient } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

const client = await startServer();

/** Refuses documents of an older version than this. */
const requires = (version: number): object => ({
  validate_doc_update: `function(doc){ if (doc.version < ${version}) throw({forbidden: '${version}'}) }`,
});

describe('writers beside a change of the validation functions', () => {
  test('are judged by the new function from its answer on', async () => {
    const db = await newDb(client);
    let rev: string | undefined;
    let stored = 0;
    for (let version = 1; version <= 5; version++) {
      let answered = false;
      const write = async (n: number): Promise<void> => {
        for (let i = 0; !answered; i++) {
          const began = answered;
          const doc = { _id: `${version}-${n}-${i}`, version: version - 1 };
          const { status, body } = await client.put(`${db}/${doc._id}`, doc);
          assert.ok(status === 201 || body.error === 'forbidden', JSON.stringify(body));
          if (status === 201) stored++;
          assert.ok(!began);
        }
      };
      const writers = [0, 1, 2, 3].map(write);
      const design = await client.put(`${db}/_design/v`, { _rev: rev, ...requires(version) });
      assertOk(design, 201);
      ({ rev } = design.body);
      const late = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          client.put(`${db}/late-${version}-${n}`, { version: version - 1 }),
        ),
      );
      answered = true;
      for (const answer of late) assertRefused(answer, 403, 'forbidden');
      await Promise.all(writers);
    }
    const { doc_count } = (await client.get(db)).body;
    assert.equal(doc_count, stored + 1);
  });

  test('succeed in the end, however often it changes', async () => {
    const db = await newDb(client);
    let { rev } = (await client.put(`${db}/_design/v`, requires(1))).body;
    let isDone = false;
    const changing = (async () => {
      for (let n = 0; !isDone; n++) {
        const answer = await client.put(`${db}/_design/v`, { _rev: rev, n, ...requires(1) });
        assertOk(answer, 201);
        ({ rev } = answer.body);
      }
    })();
    const docs = Array.from({ length: 20 }, (_, n) => ({ _id: `d${n}`, version: n % 2 }));
    const single = docs.map(({ _id, version }) => client.put(`${db}/single-${_id}`, { version }));
    const { body } = await client.post(`${db}/_bulk_docs`, { docs });
    for (const [n, row] of body.entries()) assert.equal(row.ok ?? row.error, n % 2 ? true : 'forbidden');
    for (const [n, answer] of (await Promise.all(single)).entries()) {
      if (n % 2) assertOk(answer, 201);
      else assertRefused(answer, 403, 'forbidden');
    }
    isDone = true;
    await changing;
  });

  test('who change functions at the same time are put in an order', async () => {
    const db = await newDb(client);
    const names = Array.from({ length: 8 }, (_, n) => `_design/v${n}`);
    const answers = await Promise.all(names.map((name, n) => client.put(`${db}/${name}`, requires(n))));
    for (const answer of answers) assertOk(answer, 201);
    assertRefused(await client.put(`${db}/a`, { version: 6 }), 403, 'forbidden');
    assertOk(await client.put(`${db}/a`, { version: 7 }), 201);
    const bulk = names.map((_id, n) => ({ _id, _rev: answers[n]!.body.rev, _deleted: true }));
    await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'b', version: 1 }, ...bulk] });
    assertRefused(await client.get(`${db}/b`), 404, 'not_found');
    assertOk(await client.put(`${db}/b`, { version: 1 }), 201);
  });

  test('get a conflict where the design document is in conflict, and are judged as before', async () => {
    const db = await newDb(client);
    assertOk(await client.put(`${db}/_design/v`, requires(1)), 201);
    assertRefused(await client.put(`${db}/_design/v`, requires(5)), 409, 'conflict');
    assertOk(await client.put(`${db}/a`, { version: 1 }), 201);
    assertRefused(await client.put(`${db}/b`, { version: 0 }), 403, 'forbidden');
  });
});

test(
  'a folder of an earlier version, or where a change was cut short, takes writes',
  { timeout: 60_000 },
  async () => {
    const dataDir = temporaryFolder();
    const run = async (work: (at: HttpClient) => Promise<void>): Promise<void> => {
      const server = await createServer({ dataDir, port: 0, admins: { admin: 'secret' }, logLevel: 'none' });
      await work(new HttpClient(server.url)).finally(() => server.close());
    };
    await run(async (at) => {
      assertOk(await at.put('/db'), 201);
      assertOk(await at.put('/db/_design/v', requires(1)), 201);
    });
    for (const known of ['', validatorsToken(asBytes('r'.repeat(16)))]) {
      await rewriteGroups(dataDir, known);
      await run(async (at) => {
        assertRefused(await at.put('/db/bad', { version: 0 }), 403, 'forbidden');
        const answers = await Promise.all(
          [1, 2, 3].map((n) => at.put(`/db/${known.length}-${n}`, { version: n })),
        );
        for (const answer of answers) assertOk(answer, 201);
      });
    }
  },
);

/** Has every group of a closed folder know something else of its validation functions. */
async function rewriteGroups(dataDir: string, validators: string): Promise<void> {
  const documents = path.join(dataDir, 'documents');
  for (const name of fs.readdirSync(documents)) {
    const store = new LmdbStore(path.join(documents, name));
    for (let instance = 1; instance < 10; instance++) {
      const key = new DatabaseKeys(instance).group;
      const bytes = store.get(key);
      if (bytes === undefined) continue;
      const value = encodeGroupState({ ...decodeGroupState(bytes), validators: asBytes(validators) });
      await store.write([{ key, value }]).flushed;
    }
    await store.close();
  }
}
