import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { asBytes, toBytes, type Bytes } from '../../src/base/bytes.js';
import { RequestError } from '../../src/base/errors.js';
import { StorageError } from '../../src/base/storage-errors.js';
import { createLogger } from '../../src/base/logger.js';
import { anonymous } from '../../src/base/user-context.js';
import { MemoryBlobStore } from '../../src/blobs/memory-blob-store.js';
import { DatabaseRegistry } from '../../src/node/database-registry.js';
import type { Command } from '../../src/shard/commands.js';
import { knownId } from '../../src/shard/doc-id.js';
import { plainInput, type NamedInput } from '../../src/shard/document-input.js';
import { openDoc } from '../../src/documents/open-doc.js';
import { saveDoc, saveDocs } from '../../src/documents/save-docs.js';
import type { GateContext } from '../../src/node/save-gate.js';
import { Config } from '../../src/config/config.js';
import type { Rev } from '../../src/revisions/rev.js';
import { memoryViews } from '../support/views.js';

const logger = createLogger({ level: 'none', format: 'text' });
const registry = new DatabaseRegistry(
  new Config(),
  logger,
  undefined,
  new MemoryBlobStore(),
  memoryViews(logger),
);
await registry.createDatabase('guarded', { q: 2 });
const database = registry.database('guarded');
after(() => registry.close());

const asked: { id: Bytes; context: GateContext }[] = [];
registry.saveGates.push({
  concerns: ({ name }, id) => name === 'guarded' && id !== 'free',
  check: async (_, input, context) => {
    asked.push({ id: input.id, context });
    await Promise.resolve();
    if (input.body.includes('"bad"')) throw new RequestError('forbidden', 'no bad ones');
    return { ...input, body: asBytes(input.body.replace('"raw"', '"cooked"')) };
  },
});

const input = (id: string, body: string, rest: Partial<NamedInput> = {}): NamedInput => ({
  ...plainInput(knownId(toBytes(id)), undefined, toBytes(body)),
  ...rest,
});
const local = { user: anonymous, newEdits: true };
const replicated = { user: anonymous, newEdits: false };
const bodyOf = (id: string): Bytes => openDoc(database, toBytes(id), {}).content;

async function askedDuring(work: () => Promise<unknown>): Promise<typeof asked> {
  asked.length = 0;
  await work();
  return [...asked];
}

test('a gate changes documents, and refuses one without touching the others', async () => {
  const saved = await saveDocs(
    registry,
    database,
    [input('a', '{"x":"raw"}'), input('b', '{"x":"bad"}'), input('free', '{"x":"bad"}'), input('c', '{}')],
    local,
  );
  assert.deepEqual(
    saved.map((each) => (each instanceof RequestError ? each.error : each.pos)),
    [1, 'forbidden', 1, 1],
  );
  assert.equal(bodyOf('a'), '{"x":"cooked"}');
  assert.equal(bodyOf('free'), '{"x":"bad"}');
  assert.throws(() => bodyOf('b'), { error: 'not_found' });
});

test('a conflict comes before what a gate says, and gates are not asked', async () => {
  const rev = await saveDoc(registry, database, input('d', '{}'), local);
  const stale = { pos: 1, hash: 'f'.repeat(32) };
  const questions = await askedDuring(async () => {
    for (const wrong of [input('d', '{"x":"bad"}'), input('d', '{"x":"bad"}', { rev: stale })]) {
      await assert.rejects(saveDoc(registry, database, wrong, local), { error: 'conflict' });
    }
    await assert.rejects(saveDoc(registry, database, input('new', '{}', { rev: stale }), local), {
      error: 'conflict',
    });
  });
  assert.deepEqual(questions, []);
  await assert.rejects(saveDoc(registry, database, input('d', '{"x":"bad"}', { rev }), local), {
    error: 'forbidden',
  });
});

test('a gate is shown the revision that is continued; a document begun anew continues none', async () => {
  let rev: Rev = await saveDoc(registry, database, input('e', '{"n":1}'), local);
  const previous: (Bytes | undefined)[] = [];
  const save = async (body: string, rest: Partial<NamedInput>): Promise<void> => {
    const [question] = await askedDuring(async () => {
      rev = await saveDoc(registry, database, input('e', body, rest), local);
    });
    previous.push(question!.context.previous?.content);
  };
  await save('{"n":2}', { rev });
  await save('{}', { rev, deleted: true });
  await save('{"n":3}', {});
  assert.deepEqual(previous, ['{"n":1}', '{"n":2}', undefined]);
});

test('local documents pass no gate', async () => {
  assert.deepEqual(
    await askedDuring(() => saveDoc(registry, database, input('_local/x', '{"x":"bad"}'), local)),
    [],
  );
});

test('of a replicated history the newest known ancestor is shown; what is there already passes', async () => {
  const hash = (letter: string): string => letter.repeat(32);
  const history = (...letters: string[]): Partial<NamedInput> => ({
    revisions: { start: letters.length, hashes: letters.map(hash) },
  });
  await saveDoc(registry, database, input('f', '{"n":1}', history('a')), replicated);
  const [question] = await askedDuring(() =>
    saveDoc(registry, database, input('f', '{"n":3}', history('c', 'b', 'a')), replicated),
  );
  assert.equal(question!.context.previous!.content, '{"n":1}');
  const again = input('f', '{"x":"bad"}', history('c', 'b', 'a'));
  assert.deepEqual(await askedDuring(() => saveDoc(registry, database, again, replicated)), []);
  assert.equal(bodyOf('f'), '{"n":3}');
  const inner = input('f', '{"x":"bad"}', history('b', 'a'));
  await assert.rejects(saveDoc(registry, database, inner, replicated), { error: 'forbidden' });
});

test('a disk that fails while documents are validated again refuses those, not what is stored', async (t) => {
  const changed = database.shardOf(asBytes('g'));
  const other = [...'hijklmnop'].find((id) => database.shardOf(asBytes(id)) !== changed)!;
  const submit = database.submit.bind(database);
  t.mock.method(database, 'submit', (command: Command) =>
    command.shard === changed && command.type === 'edit'
      ? Promise.resolve(command.edits.map(() => 'retry'))
      : submit(command),
  );
  t.mock.method(database, 'alignValidators', () =>
    Promise.reject(new StorageError('insufficient_storage', 'The disk is full.', undefined)),
  );
  const saved = await saveDocs(registry, database, [input('g', '{}'), input(other, '{"n":1}')], local);
  assert.equal((saved[0] as RequestError).error, 'insufficient_storage');
  assert.ok(!(saved[1] instanceof RequestError));
  assert.equal(bodyOf(other), '{"n":1}');
  await assert.rejects(saveDoc(registry, database, input('g', '{}'), local), {
    error: 'insufficient_storage',
  });
});
