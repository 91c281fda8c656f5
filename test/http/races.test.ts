import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';

/** On disk, where a commit takes its time. */
const client = await startServer({ dataDir: temporaryFolder() });

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();

describe('databases that several clients make or delete at once', () => {
  test('are there for who is told that they exist', async () => {
    for (let round = 0; round < 15; round++) {
      const makeAndWrite = async (id: string): Promise<Answer[]> => [
        await client.put(`/race${round}`),
        await client.put(`/race${round}/${id}`, {}),
      ];
      const outcomes = await Promise.all([makeAndWrite('a'), makeAndWrite('b'), makeAndWrite('c')]);
      assert.deepEqual(statuses(outcomes.map(([made]) => made!)), [201, 412, 412]);
      for (const [, written] of outcomes) assertOk(written!, 201);
    }
  });

  test('are gone for who is told that they do not exist', async () => {
    for (let round = 0; round < 15; round++) {
      const db = await newDb(client);
      const deleteAndMake = async (): Promise<Answer[]> => {
        const deleted = await client.delete(db);
        return [deleted, ...(deleted.status === 404 ? [await client.put(db)] : [])];
      };
      const outcomes = await Promise.all([deleteAndMake(), deleteAndMake()]);
      for (const [deleted, made] of outcomes) {
        assert.ok([200, 404].includes(deleted!.status), deleted!.text);
        if (made !== undefined) assertOk(made, 201);
      }
    }
  });

  test('get no settings that were meant for another of the same name', async () => {
    const db = await newDb(client);
    const security = JSON.stringify({ members: { names: ['eve'] } });
    const { port, credentials } = client;
    const request = http.request({
      ...{ port, path: `${db}/_security`, method: 'PUT', auth: credentials! },
      headers: { 'content-type': 'application/json', 'content-length': security.length },
    });
    const answer = new Promise<http.IncomingMessage>((resolve, reject) =>
      request.on('response', resolve).on('error', reject),
    );
    request.write(security.slice(0, 5));
    await pause(100);
    assertOk(await client.delete(db), 200);
    assertOk(await client.put(db), 201);
    request.end(security.slice(5));
    assert.equal((await answer).resume().statusCode, 404);
    assert.notDeepEqual((await client.get(`${db}/_security`)).body.members?.names, ['eve']);
  });

  test('may be the target of several replications that make it', async () => {
    const source = await newDb(client);
    assertOk(await client.put(`${source}/x`, {}), 201);
    const replicate = (filter: string): Promise<Answer> =>
      client.post('/_replicate', {
        ...{ source: source.slice(1), target: 'made-by-several', create_target: true },
        doc_ids: ['x', filter],
      });
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(replicate));
    for (const answer of answers) assertOk(answer, 200);
    assertOk(await client.get('/made-by-several/x'), 200);
  });
});

describe('design documents that several clients write at once', () => {
  const views = { v: { map: 'function (doc) { emit(doc._id) }' } };

  test('are all saved', async () => {
    const db = await newDb(client);
    const put = (n: number): Promise<Answer> => client.put(`${db}/_design/d${n}`, { views });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => put(n)));
    for (const answer of answers) assertOk(answer, 201);
  });

  test('send no other document back to the validation functions, unless those change', async () => {
    const db = await newDb(client);
    // It tells when a document comes to it a second time.
    const source = `(function () {
      var seen = {};
      return function (doc) {
        if (seen[doc._id]) throw { forbidden: 'judged twice' };
        seen[doc._id] = true;
      };
    })()`;
    assertOk(await client.put(`${db}/_design/validate`, { validate_doc_update: source }), 201);
    let done = false;
    const designs = async (k: number): Promise<void> => {
      for (let n = 0; !done; n++) assertOk(await client.put(`${db}/_design/v${k}-${n}`, { views }), 201);
    };
    const writers = [designs(0), designs(1)];
    for (let n = 0; n < 25; n++) assertOk(await client.put(`${db}/doc${n}`, {}), 201);
    done = true;
    await Promise.all(writers);
  });

  test('hold up no document for good, however often validation functions change', async () => {
    const db = await newDb(client);
    const slow = (n: number): string => `function () { for (var i = 0; i < 100000; i++); return ${n} }`;
    let done = false;
    let changes = 0;
    const change = async (k: number): Promise<void> => {
      let rev: string | undefined;
      for (let n = 0; !done; n++) {
        const answer = await client.put(`${db}/_design/v${k}`, { validate_doc_update: slow(n), _rev: rev });
        assertOk(answer, 201);
        rev = answer.body.rev;
        changes++;
      }
    };
    const writers = [change(0), change(1), change(2)];
    while (changes < 6) await pause(5);
    const before = changes;
    const write = async (k: number): Promise<void> => {
      for (let n = 0; n < 3; n++) assertOk(await client.put(`${db}/doc${k}-${n}`, {}), 201);
    };
    await Promise.all([write(0), write(1)]);
    assert.ok(changes > before, 'design documents were not written meanwhile');
    done = true;
    await Promise.all(writers);
  });

  test('apply to every document that comes after them', async () => {
    const db = await newDb(client);
    const others = Array.from({ length: 20 }, (_, n) => client.put(`${db}/_design/d${n}`, { views }));
    const refuse = { validate_doc_update: 'function () { throw { forbidden: "no" } }' };
    assertOk(await client.put(`${db}/_design/refuse`, refuse), 201);
    assertRefused(await client.put(`${db}/x`, {}), 403, 'forbidden');
    await Promise.all(others);
  });
});
