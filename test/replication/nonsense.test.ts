import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seed } from '../model/random.js';
import { newDb, startServer, temporaryFolder } from '../support/server.js';
import { Front } from './front.js';

const here = await startServer({ dataDir: temporaryFolder() });
const there = await startServer({ dataDir: temporaryFolder() });
const front = await Front.start(there.url);

/** Values that stand where another is expected. */
const values = ['null', '[]', '{}', '5', '"text"', 'true', '[null]', '[[]]', '[5]', '{"a":null}', '{"a":5}'];

/** Parts of the interface, with what a server may answer there that is JSON and yet not what belongs there. */
const answers: Record<string, string[]> = {
  _changes: [
    ...values,
    ...values.map((value) => `{"last_seq":"1","results":${value}}`),
    ...values.map((value) => `{"last_seq":"1","results":[{"id":"a","changes":${value}}]}`),
    ...values.map((value) => `{"last_seq":${value},"results":[]}`),
  ],
  _revs_diff: [
    ...values,
    ...values.map((value) => `{"a":${value}}`),
    ...values.map((value) => `{"a":{"missing":${value}}}`),
    ...values.map((value) => `{"a":{"missing":["1-a"],"possible_ancestors":${value}}}`),
  ],
  _bulk_get: [
    ...values,
    ...values.map((value) => `{"results":${value}}`),
    ...values.map((value) => `{"results":[{"id":"a","docs":${value}}]}`),
    ...values.map((value) => `{"results":[{"id":"a","docs":[{"ok":${value}}]}]}`),
    ...values.map((value) => `{"results":[{"id":"a","docs":[{"error":${value}}]}]}`),
    ...values.map((value) => docWith(`"_revisions":${value}`)),
    ...values.map((value) => docWith(`"_attachments":${value}`)),
    ...values.map((value) => docWith(`"_attachments":{"x":${value}}`)),
    ...values.map((value) => docWith(`"_attachments":{"x":{"stub":true,"length":${value}}}`)),
  ],
  // Asked for where documents are read one by one.
  open_revs: [
    ...values,
    ...values.map((value) => `[{"ok":${value}}]`),
    ...values.map((value) => `[{"missing":${value}}]`),
    ...values.map((value) => `[{"error":${value}}]`),
  ],
  _bulk_docs: [...values, ...values.map((value) => `[{"error":"forbidden","id":${value}}]`)],
  _local: [...values, ...values.map((value) => `{"history":${value},"session_id":${value},"_rev":${value}}`)],
  _ensure_full_commit: values,
  // The databases themselves.
  '/test': [...values, ...values.map((value) => `{"db_name":"x","props":${value},"doc_count":${value}}`)],
};

function docWith(member: string): string {
  return `{"results":[{"id":"a","docs":[{"ok":{"_id":"a","_rev":"1-a",${member}}}]}]}`;
}

const isOf = (part: string, path: string): boolean =>
  part === '/test' ? /^\/test\d+\/?$/.test(path) : path.includes(part);

test('a target that does not say what it lacks is not taken for one that lacks nothing', async () => {
  const [from, to] = [await newDb(here), await newDb(there)];
  await here.put(`${from}/a`, {});
  await there.put(`${to}/b`, {});
  for (const body of ['{"a":5}', '{"a":{}}', '{"a":{"missing":5}}']) {
    front.interfere = ({ path }, response) => {
      if (!path.includes('_revs_diff')) return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      return true;
    };
    const request = { source: from.slice(1), target: front.url(to), retries_per_request: 0 };
    const { status, text } = await here.post('/_replicate', request);
    assert.equal(status, 500, body);
    assert.match(text, /no list of revisions/);
  }
});

/** How programs name a value that they did not expect. */
const inner = /Cannot (read|destructure|convert)|is not (a function|iterable)|undefined|of null/;

/** A third of the answers in `npm test`, all of them in `npm run test:all`. */
const shareTried = process.env['TUFFET_ALL_ANSWERS'] === '1' ? 1 : 3;
const tried = (part: string): string[] => answers[part]!.filter((_, at) => (at + seed) % shareTried === 0);

const askedOfTarget = ['_revs_diff', '_bulk_docs', '_ensure_full_commit', '_local', '/test'];
const askedOfSource = ['_changes', '_bulk_get', 'open_revs', '_local', '/test'];

async function replicateWithNonsense(part: string, isSource: boolean, isTarget: boolean): Promise<void> {
  const from = await newDb(isSource ? there : here);
  await (isSource ? there : here).put(`${from}/a`, {});
  let asked = 0;
  for (const body of tried(part)) {
    const to = await newDb(isTarget ? there : here);
    // An empty one is not asked what it lacks.
    await (isTarget ? there : here).put(`${to}/b`, {});
    front.interfere = ({ path }, response) => {
      if (!isOf(part, path)) return false;
      asked++;
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      return true;
    };
    const answer = await here.post('/_replicate', {
      source: isSource ? front.url(from) : from.slice(1),
      target: isTarget ? front.url(to) : to.slice(1),
      retries_per_request: 0,
      use_bulk_get: part !== 'open_revs',
    });
    assert.ok(answer.body.ok === true || typeof answer.body.reason === 'string', body);
    assert.doesNotMatch(answer.text, inner, body);
  }
  assert.ok(asked > 0);
}

describe(`a server that answers something else than belongs there, seed ${seed}`, () => {
  for (const part of askedOfSource) {
    test(`${part}, as a source`, () => replicateWithNonsense(part, true, false));
  }
  for (const part of askedOfTarget) {
    test(`${part}, as a target`, () => replicateWithNonsense(part, false, true));
  }
  for (const part of Object.keys(answers)) {
    test(`${part}, as both`, () => replicateWithNonsense(part, true, true));
  }
});
