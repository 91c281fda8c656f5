import assert from 'node:assert/strict';
import test from 'node:test';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';
import { cpuOfTurns } from '../support/turns.js';

const client = await startServer({ config: { couchdb: { max_document_size: '4000000' } } });
const db = await newDb(client);

/** Sends a body, and gives the answer with the share that the longest turn had in the processor time until then. */
async function measured(
  method: string,
  path: string,
  raw: string,
): Promise<{ answer: Answer; share: number; text: string }> {
  const body = Buffer.from(raw);
  const turns = cpuOfTurns();
  const answer = await client.send(method, path, { raw: body });
  const times = turns.stop();
  const [longest, all] = [Math.max(...times), times.reduce((sum, each) => sum + each, 0)];
  return { answer, share: longest / all, text: `${path}: ${longest} of ${all} ms of processor time` };
}

test('JSON that is read as a whole has a limit of its own', async () => {
  const list = `[${'1,'.repeat(2_200_000)}1]`;
  const bodies: Record<string, string> = {
    _find: `{"selector":{"a":{"$eq":${list}}}}`,
    _explain: `{"selector":{"a":{"$in":${list}}}}`,
    _index: `{"index":{"fields":${list}}}`,
    _all_docs: `{"keys":${list}}`,
    '_all_docs/queries': `{"queries":[{"keys":${list}}]}`,
    _revs_diff: `{"a":${list}}`,
    _missing_revs: `{"a":${list}}`,
    _purge: `{"a":${list}}`,
    _bulk_get: `{"docs":${list}}`,
    '_changes?filter=_doc_ids': `{"doc_ids":${list}}`,
  };
  for (const [endpoint, body] of Object.entries(bodies)) {
    const { status, body: refused } = await client.send('POST', `${db}/${endpoint}`, { raw: body });
    assert.equal(status, 413, endpoint);
    assert.equal(refused.error, 'too_large', endpoint);
  }
  const security = await client.send('PUT', `${db}/_security`, { raw: `{"x":${list}}` });
  assert.equal(security.status, 413);
});

test('the limit can be changed', async () => {
  const option = '/_node/_local/_config/tuffet/json_bytes_max';
  await client.put(option, '2000');
  const keys = Array.from({ length: 500 }, (_, n) => `doc${n}`);
  assert.equal((await client.post(`${db}/_all_docs`, { keys })).status, 413);
  await client.delete(option);
  assert.equal((await client.post(`${db}/_all_docs`, { keys })).body.rows.length, 500);
});

test('selectors, fields and keys are bounded in number', async () => {
  const refusal = async (path: string, raw: string): Promise<unknown[]> => {
    const { status, body } = await client.send('POST', `${db}/${path}`, { raw });
    return [status, body.error];
  };
  const values = `[${'1,'.repeat(100_000)}1]`;
  assert.deepEqual(await refusal('_find', `{"selector":{"a":${values}}}`), [400, 'invalid_selector']);
  assert.deepEqual(await refusal('_find', `{"selector":{"a":[[${values}]]}}`), [400, 'invalid_selector']);
  const patterns = (count: number): string =>
    JSON.stringify({
      selector: { $or: Array.from({ length: count }, (_, n) => ({ a: { $regex: `x${n}` } })) },
    });
  assert.deepEqual(await refusal('_find', patterns(201)), [400, 'invalid_selector']);
  assert.deepEqual(await refusal('_find', patterns(200)), [200, undefined]);
  const fields = `[${'"a",'.repeat(10_000)}"a"]`;
  assert.deepEqual(await refusal('_find', `{"selector":{},"fields":${fields}}`), [400, 'invalid_fields']);
  assert.deepEqual(await refusal('_index', `{"index":{"fields":${fields}}}`), [400, 'invalid_sort_json']);
  const keys = `[${'"a",'.repeat(250_000)}"a"]`;
  assert.deepEqual(await refusal('_all_docs', `{"keys":${keys}}`), [413, 'too_large']);
});

test('a large document is read in slices, and refused as soon as it is too large', async () => {
  const members = Array.from({ length: 80_000 }, (_, n) => `"k${n}":"${n}"`).join(',');
  const saved = await measured('PUT', `${db}/members`, `{${members}}`);
  assert.equal(saved.answer.status, 201);
  assert.equal(Object.keys((await client.get(`${db}/members`)).body).length, 80_002);
  const twice = await measured('PUT', `${db}/twice`, `{${'"k":1,'.repeat(300_000)}"_id":"twice","k":2}`);
  assert.equal(twice.answer.status, 201);
  assert.match((await client.get(`${db}/twice`)).text, /^\{"_id":"twice","_rev":"[^"]+","k":2\}\s$/);
  const tooLarge = await measured('PUT', `${db}/large`, `{"a":[${'[],'.repeat(4_000_000)}1]}`);
  assert.equal(tooLarge.answer.status, 413);
  assert.equal(tooLarge.answer.body.error, 'document_too_large');
  const spaced = await client.send('PUT', `${db}/spaced`, { raw: `${' '.repeat(5_000_000)}{"a": 1}` });
  assert.equal(spaced.status, 201);
  for (const raw of [
    `{"a":"${'x'.repeat(2_000_000)}"`,
    `[${'1,'.repeat(1_000_000)}1]`,
    `{"_x":[${'1,'.repeat(3_000_000)}1]}`,
  ])
    assert.equal((await client.send('PUT', `${db}/bad`, { raw })).status, 400);
  // In one go, it is nearly all of it.
  for (const { share, text } of [saved, twice]) assert.ok(share < 0.7, text);
});

test('a document with a large attachment inside is saved', async () => {
  const data = Buffer.alloc(3_000_000, 'abc');
  const text = JSON.stringify({
    n: 1,
    _attachments: { a: { content_type: 'image/png', data: data.toString('base64') } },
  });
  assert.equal((await client.send('PUT', `${db}/attached`, { raw: text })).status, 201);
  assert.equal((await client.get(`${db}/attached`)).body._attachments.a.length, data.length);
  const bulk = await client.send('POST', `${db}/_bulk_docs`, { raw: `{"docs":[${text}]}` });
  assert.equal(bulk.body[0].ok, true);
});

test('a bulk request of medium size is read in slices, and means the same', async () => {
  const docs = Array.from({ length: 10_000 }, (_, n) => ({ _id: `bulk${n}`, n, text: 'x"\\é{['.repeat(3) }));
  const { answer, share, text } = await measured('POST', `${db}/_bulk_docs`, JSON.stringify({ docs }));
  assert.equal(answer.status, 201);
  assert.equal(answer.body.length, docs.length);
  const { body: read } = await client.get(`${db}/bulk777`);
  assert.deepEqual(read, { ...docs[777], _rev: read._rev });
  assert.ok(share < 0.7, text);
  const padding = ' '.repeat(300_000);
  for (const [raw, reason] of [
    [`{"docs":[{}],${padding}`, /JSON/],
    [`{"docs":[{},],${padding}"a":1}`, /JSON/],
    [`{"docs":[{"_x":1}],${padding}"a":1}`, /special/],
    [`{${padding}"a":1}`, /docs/],
    [`[${padding}]`, /object/],
    [`{"new_edits":1,"docs":[],${padding}"a":1}`, /new_edits/],
  ] as const) {
    const refused = await client.send('POST', `${db}/_bulk_docs`, { raw });
    assert.equal(refused.status, 400, raw.trim().slice(0, 40));
    assert.match(refused.body.reason, reason);
  }
});

test('_revs_diff and _missing_revs of many documents are answered in slices', async () => {
  const rev = `1-${'a'.repeat(32)}`;
  const asked = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`d${n}`, [rev]]));
  const diff = await measured('POST', `${db}/_revs_diff`, JSON.stringify(asked));
  assert.equal(Object.keys(diff.answer.body).length, 20_000);
  assert.deepEqual(diff.answer.body.d7, { missing: [rev] });
  assert.ok(diff.share < 0.7, diff.text);
  const missing = await client.post(`${db}/_missing_revs`, asked);
  assert.equal(Object.keys(missing.body.missing_revs).length, 20_000);
  assert.deepEqual(missing.body.missing_revs.d7, [rev]);
});
