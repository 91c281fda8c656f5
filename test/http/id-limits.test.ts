import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const unlimited = await startServer({ config: { couchdb: { max_document_id_length: 'infinity' } } });

const idBytesMax = 16_384;
const longest = 'i'.repeat(idBytesMax);
const tooLong = `${longest}i`;

function assertTooLong(answer: Answer): void {
  assertRefused(answer, 400);
  assert.deepEqual(answer.body, { error: 'illegal_docid', reason: 'Document id is too long' });
}

describe('An id that does not fit into an address with every byte escaped', () => {
  test('is refused by PUT, POST and COPY, also for local documents and attachments', async () => {
    const db = await newDb(client);
    assertTooLong(await client.put(`${db}/${tooLong}`, {}));
    assertTooLong(await client.post(db, { _id: tooLong }));
    assertTooLong(await client.put(`${db}/_local/${tooLong}`, {}));
    assertTooLong(await client.put(`${db}/${tooLong}/a.txt`, {}));
    await client.put(`${db}/short`, {});
    assertTooLong(await client.copy(`${db}/short`, tooLong));
    assert.equal((await client.get(db)).body.doc_count, 1);
  });

  test('is refused in bulk requests, with new_edits and without', async () => {
    const db = await newDb(client);
    const docs = [{ _id: tooLong, _rev: '1-a' }];
    assertTooLong(await client.post(`${db}/_bulk_docs`, { docs: [{ _id: tooLong }] }));
    assertTooLong(await client.post(`${db}/_bulk_docs`, { docs, new_edits: false }));
    assertTooLong(await client.post(`${db}/_bulk_docs`, { docs: [{ _id: 'x'.repeat(9_000_000) }] }));
  });

  test('is refused where an update function has it from the address', async () => {
    const db = await newDb(client);
    const updates = {
      named: 'function (doc, req) { return [{ _id: req.id }, "saved"]; }',
      chosen: `function (doc, req) { return [{ _id: new Array(${idBytesMax + 2}).join("i") }, "saved"]; }`,
    };
    assertOk(await client.put(`${db}/_design/d`, { updates }), 201);
    assertTooLong(await client.put(`${db}/_design/d/_update/named/${tooLong}`));
    assertTooLong(await client.post(`${db}/_design/d/_update/chosen`));
  });

  test('is counted as a failed write of a replication', async () => {
    const [source, target] = [await newDb(unlimited), await newDb(client)];
    await unlimited.post(`${source}/_bulk_docs`, { docs: [{ _id: tooLong }, { _id: 'short' }] });
    const { body } = await client.post('/_replicate', {
      source: `${unlimited.urlWithCredentials}${source}`,
      target: `${client.urlWithCredentials}${target}`,
    });
    assert.equal(body.ok, true, JSON.stringify(body));
    assert.equal(body.history[0].doc_write_failures, 1);
    assert.equal((await client.get(target)).body.doc_count, 1);
  });

  test('is accepted where the limit is lifted', async () => {
    const db = await newDb(unlimited);
    const id = 'x'.repeat(100_000);
    const [row] = (await unlimited.post(`${db}/_bulk_docs`, { docs: [{ _id: id }] })).body;
    assert.equal(row.ok, true);
    const { rows } = (await unlimited.post(`${db}/_all_docs`, { keys: [id] })).body;
    assert.equal(rows[0].value.rev, row.rev);
  });
});

test('the longest id can be read and written with every byte escaped', async () => {
  const db = await newDb(client);
  const path = `${db}/${longest.replaceAll('i', '%69')}`;
  const [row] = (await client.post(`${db}/_bulk_docs`, { docs: [{ _id: longest }] })).body;
  assert.equal(row.ok, true);
  assert.equal((await client.get(path)).body._id, longest);
  assertOk(await client.delete(`${path}?rev=${row.rev}`), 200);
});

test('a name of an attachment in a body has a limit too', async () => {
  const db = await newDb(client);
  const named = (name: string): unknown => ({ _attachments: { [name]: { data: '' } } });
  const refused = await client.put(`${db}/doc`, named('é'.repeat(8_193)));
  assertRefused(refused, 400);
  assert.match(refused.body.reason, /^Attachment name is longer than 16384 bytes/);
  assertOk(await client.put(`${db}/doc`, named('é'.repeat(8_192))), 201);
});
