import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { SystemRuntime } from '../../src/base/runtime.js';
import { saveDocs } from '../../src/documents/save-docs.js';
import type { DatabaseRegistry } from '../../src/node/database-registry.js';
import type { Database } from '../../src/node/database.js';
import type { EditCommand } from '../../src/shard/commands.js';
import type { DocId } from '../../src/shard/doc-id.js';
import { plainInput } from '../../src/shard/document-input.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();

/** Its clock goes on by a tenth of a millisecond for each look at a document. */
class LookingTime extends SystemRuntime {
  ms = 0;
  longestTurnMs = 0;
  #turnFrom = 0;

  override monotonicMs(): number {
    return this.ms;
  }

  override async nextTurn(): Promise<void> {
    this.#turnFrom = this.ms;
    await Promise.resolve();
  }

  look(): void {
    this.ms += 0.1;
    this.longestTurnMs = Math.max(this.longestTurnMs, this.ms - this.#turnFrom);
  }
}

test('the documents of a large request are checked and placed in slices', async () => {
  const runtime = new LookingTime();
  const gate = {
    concerns: () => {
      runtime.look();
      return false;
    },
    digest: () => asBytes('digest'),
  };
  const shards = 4;
  const database = {
    runtime,
    record: { instance: 1 },
    revsLimit: 1_000,
    collection: { shards: {} },
    shardOf: (id: string) => {
      runtime.look();
      return Number(id.slice(1)) % shards;
    },
    submit: ({ edits, shard }: EditCommand) =>
      Promise.resolve(edits.map(({ id }) => ({ pos: shard + 1, hash: id }))),
  };
  const inputs = Array.from({ length: 10_000 }, (_, n) =>
    plainInput(asBytes(`d${n}`) as DocId, undefined, asBytes('{}')),
  );
  const registry = { saveGates: [gate] } as unknown as DatabaseRegistry;
  const user = { name: null, roles: [] };
  const options = { user, newEdits: true };
  const saved = await saveDocs(registry, database as unknown as Database, inputs, options);
  assert.deepEqual(
    saved,
    inputs.map(({ id }, n) => ({ pos: (n % shards) + 1, hash: id })),
  );
  assert.ok(runtime.longestTurnMs < 50, `${runtime.longestTurnMs} ms`);
});

test('results of a large request stand in the order of its documents', async () => {
  const db = await newDb(client);
  await client.put(`${db}/b4000`, {});
  const docs = Array.from({ length: 5_000 }, (_, n) => ({ _id: `b${n}`, n }));
  docs.push({ _id: 'b7', n: -1 });
  const { body } = await client.post(`${db}/_bulk_docs`, { docs });
  assert.deepEqual(
    body.map(({ id }: { id: string }) => id),
    docs.map(({ _id }) => _id),
  );
  const failed = body.flatMap(({ error }: { error?: string }, at: number) =>
    error === undefined ? [] : [[at, error]],
  );
  assert.deepEqual(failed, [
    [4_000, 'conflict'],
    [5_000, 'conflict'],
  ]);
});

test('validation functions that are added while a large request is read apply to its documents', async () => {
  const db = await newDb(client);
  const validate = "function (doc) { if (doc.n === 7) throw { forbidden: 'seven' }; }";
  const docs = Array.from({ length: 20_000 }, (_, n) => ({ _id: `b${n}`, n }));
  const saving = client.post(`${db}/_bulk_docs`, { docs });
  const { status } = await client.put(`${db}/_design/d`, { validate_doc_update: validate });
  assert.equal(status, 201);
  const { body } = await saving;
  // Either all of them were saved before, or the function has judged.
  const { error } = body[7];
  assert.ok(error === undefined || error === 'forbidden');
  assert.equal(body[8].ok, true);
});
