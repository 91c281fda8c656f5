import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { asBytes, toBytes } from '../../src/base/bytes.js';
import { createLogger } from '../../src/base/logger.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import { saveDoc } from '../../src/documents/save-docs.js';
import { ScriptFilter } from '../../src/design/script-filter.js';
import { Config } from '../../src/config/config.js';
import { newHost } from '../script/scene.js';
import { memoryViews } from '../support/views.js';
import { knownId } from '../../src/shard/doc-id.js';
import { plainInput } from '../../src/shard/document-input.js';

const logger = createLogger({ level: 'none', format: 'text' });
const registry = new DatabaseRegistry(
  new Config(),
  logger,
  undefined,
  new MemoryBlobStore(),
  memoryViews(logger),
);
after(() => registry.close());
await registry.createDatabase('filtered', { q: 2 });
const database = registry.database('filtered');
const { host } = newHost({ timeoutMs: () => 1_000 });

async function saveDesign(name: string, ddoc: object): Promise<void> {
  const id = knownId(asBytes(`_design/${toBytes(name)}`));
  const input = plainInput(id, undefined, toBytes(JSON.stringify(ddoc)));
  await saveDoc(registry, database, input, {
    user: { name: 'admin', roles: ['_admin'] },
    newEdits: true,
  });
}

await saveDesign('dé', {
  lib: { odd: 'module.exports = function(n){ return n % 2 == 1 }' },
  filters: {
    odd: `function(doc, req){ return require('lib/odd')(doc.n) && !doc._deleted && doc.n != req.query.not }`,
    fails: 'function(doc){ if (doc.n == 2) throw "two"; return true }',
    loops: 'function(){ for (;;); }',
  },
  views: { big: { map: 'function(doc){ if (doc.n > 2) emit(doc.n); if (doc.n == 4) throw 1 }' } },
});
await saveDesign('other', { language: 'erlang', filters: { f: 'x' } });
const docs = [1, 2, 3, 4, 5].map((n) => asBytes(`{"_id":"d${n}","n":${n}}`));

describe('a filter', () => {
  test('says of each document whether it passes', async () => {
    const filter = ScriptFilter.byFunction(host, database, 'dé', 'odd', asBytes('{"query":{"not":"5"}}'));
    assert.deepEqual(await filter.accepts(docs), [true, false, true, false, false]);
    assert.deepEqual(await filter.accepts([asBytes('{"_id":"d","_deleted":true,"n":1}')]), [false]);
    assert.deepEqual(await filter.accepts([]), []);
  });

  test('by a view passes what the view emits something for', async () => {
    const filter = ScriptFilter.byView(host, database, 'dé', 'big');
    assert.deepEqual(await filter.accepts(docs), [false, false, true, false, true]);
  });

  test('that is not there is not found', () => {
    const missing = { error: 'not_found', reason: 'missing json key: none' };
    assert.throws(() => ScriptFilter.byFunction(host, database, 'dé', 'none', asBytes('{}')), missing);
    assert.throws(() => ScriptFilter.byView(host, database, 'dé', 'none'), missing);
    assert.throws(() => ScriptFilter.byFunction(host, database, 'dé', 'toString', asBytes('{}')), {
      error: 'not_found',
    });
    assert.throws(() => ScriptFilter.byFunction(host, database, 'none', 'odd', asBytes('{}')), {
      error: 'not_found',
      reason: 'missing',
    });
    assert.throws(() => ScriptFilter.byFunction(host, database, 'other', 'f', asBytes('{}')), {
      error: 'unknown_query_language',
    });
  });

  test('that throws or never ends is an error', async () => {
    const fails = ScriptFilter.byFunction(host, database, 'dé', 'fails', asBytes('{}'));
    await assert.rejects(fails.accepts(docs), { error: 'render_error' });
    const loops = ScriptFilter.byFunction(host, database, 'dé', 'loops', asBytes('{}'));
    await assert.rejects(loops.accepts(docs), { error: 'os_process_error' });
  });
});
