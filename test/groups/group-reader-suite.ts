import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { asBytes, type Bytes } from '../../src/base/bytes.js';
import { purgeDocs } from '../../src/documents/purge-docs.js';
import { updateDocs } from '../../src/documents/update-docs.js';
import type { Database } from '../../src/node/database.js';
import type { Rev } from '../../src/revisions/rev.js';
import { find, leaves } from '../../src/revisions/tree.js';
import { attachmentsOf, encodeContent } from '../../src/shard/content.js';
import { decodeWinner } from '../../src/shard/doc-record.js';
import {
  allIds,
  type DocEntry,
  type DocsQuery,
  type DocTable,
  type GroupReader,
} from '../../src/shard/group-reader.js';
import { Random, seed } from '../model/random.js';
import { knownId } from '../../src/shard/doc-id.js';
import { plainInput } from '../../src/shard/document-input.js';

/** Makes a database whose documents are read, with so many shards. */
export type OpenDatabase = (
  t: TestContext,
  settings: { q: number; placement?: 'partition' },
) => Promise<Database>;

const q = 4;

/** What `src/shard/group-reader.ts` promises: every implementation must pass. Promises are allowed everywhere. */
export function groupReaderSuite(name: string, open: OpenDatabase): void {
  describe(name, () => {
    describe('documents', () => holdsForDocuments(open));
    describe('listings', () => holdsForListings(open));
    describe('changes and purges', () => holdsForChanges(open));
    describe('attachments and partitions', () => holdsForTheRest(open));
  });
}

interface Input {
  id: Bytes;
  rev?: Rev | undefined;
  deleted?: boolean;
  body?: Bytes;
}

async function save(database: Database, ...inputs: Input[]): Promise<Rev[]> {
  const results = await updateDocs(
    database,
    inputs.map(({ id, rev, body = asBytes('{}'), deleted }) => plainInput(knownId(id), rev, body, deleted)),
    true,
  );
  return results.map((result) => {
    assert.ok(result !== undefined && typeof result === 'object' && 'pos' in result, 'the document is saved');
    return result;
  });
}

/** Saves a conflict: a revision that was made elsewhere. */
async function saveElsewhere(database: Database, id: Bytes, rev: Rev, body: Bytes): Promise<void> {
  await updateDocs(database, [plainInput(knownId(id), rev, body)], false);
}

function holdsForDocuments(open: OpenDatabase): void {
  test('a document is read as it was saved last', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const [first] = await save(database, { id: asBytes('a'), body: asBytes('{"n":1}') });
    const [second] = await save(database, { id: asBytes('a'), rev: first, body: asBytes('{"n":2}') });
    const shard = database.shardOf(asBytes('a'));
    const winner = (await reader.winner(asBytes('a')))!;
    assert.deepEqual([winner.pos, winner.hash, winner.deleted], [second!.pos, second!.hash, false]);
    assert.equal(await reader.winnerBody(shard, winner), '{"n":2}');
    for (const doc of [await reader.doc(asBytes('a')), await reader.docUncached(asBytes('a'))]) {
      assert.deepEqual({ ...doc!.rev }, { ...second });
      const before = find(doc!.tree, first!)!;
      assert.equal(await reader.body(shard, doc!, before), '{"n":1}', 'a superseded revision is kept');
      assert.equal(await reader.bodyOnce(shard, doc!, find(doc!.tree, second!)!), '{"n":2}');
    }
    const tree = (await reader.treeOnce(asBytes('a')))!;
    assert.deepEqual(
      leaves(tree).map(({ pos, hash }) => ({ pos, hash })),
      [{ ...second }],
    );
    assert.equal(decodeWinner((await reader.liveRecord({ id: asBytes('a') }))!).hash, second!.hash);
    assert.equal(await reader.deletedRecord(asBytes('a')), undefined);
  });

  test('a deleted document is found among the deleted ones', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const [first] = await save(database, { id: asBytes('a') });
    await save(database, { id: asBytes('a'), rev: first, deleted: true });
    assert.equal((await reader.winner(asBytes('a')))!.deleted, true);
    assert.equal((await reader.doc(asBytes('a')))!.deleted, true);
    assert.ok((await reader.treeOnce(asBytes('a'))) !== undefined);
    assert.equal(await reader.liveRecord({ id: asBytes('a') }), undefined);
    assert.ok((await reader.deletedRecord(asBytes('a'))) !== undefined);
  });

  test('what is not there is undefined', async (t) => {
    const reader: GroupReader = (await open(t, { q })).collection;
    for (const id of ['a', '_design/a', 'x'.repeat(5_000)]) {
      assert.equal(await reader.winner(asBytes(id)), undefined);
      assert.equal(await reader.doc(asBytes(id)), undefined);
      assert.equal(await reader.docUncached(asBytes(id)), undefined);
      assert.equal(await reader.treeOnce(asBytes(id)), undefined);
      assert.equal(await reader.local(asBytes(`_local/${id}`)), undefined);
    }
  });

  test('large bodies and the revisions of a conflict are read, wherever they are stored', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const large = asBytes(`{"text":"${'x'.repeat(50_000)}"}`);
    await save(database, { id: asBytes('a'), body: large });
    await saveElsewhere(database, asBytes('a'), { pos: 1, hash: 'f'.repeat(32) }, asBytes('{"other":true}'));
    const doc = (await reader.doc(asBytes('a')))!;
    const shard = database.shardOf(asBytes('a'));
    const bodies = [];
    for (const leaf of leaves(doc.tree)) bodies.push(await reader.body(shard, doc, leaf));
    assert.deepEqual(new Set(bodies), new Set([large, '{"other":true}']));
  });

  test('commits are seen as soon as they are answered, and counted by shard', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const ids = Array.from({ length: 60 }, (_, i) => asBytes(`doc-${i}`));
    await save(database, ...ids.map((id) => ({ id })));
    assert.equal(reader.states.length, reader.shards.size);
    for (const shard of reader.shards.shards) {
      const count = ids.filter((id) => database.shardOf(id) === shard).length;
      assert.equal(reader.states[shard]!.doc_count, count);
      assert.equal(reader.states[shard]!.seq, count);
    }
    assert.ok(reader.fileBytes > 0);
    const before = reader.designChanges;
    await save(database, { id: asBytes('_design/d') });
    assert.ok(reader.designChanges > before);
  });
}

/** All records of a range, in batches. */
async function all(
  reader: GroupReader,
  table: DocTable,
  query: Partial<DocsQuery> & { limit: number },
): Promise<DocEntry[]> {
  const range = { ...allIds, ...query };
  const found: DocEntry[] = [];
  for (;;) {
    const batch = await reader.docs(table, range);
    if (batch.length === 0) return found;
    assert.ok(batch.length <= query.limit, 'a batch is bounded');
    found.push(...batch);
    if (query.reverse) range.end = batch.at(-1)!.key;
    else range.start = asBytes(`${batch.at(-1)!.key}\0`);
  }
}

const keysOf = (entries: readonly DocEntry[]): Bytes[] => entries.map(({ key }) => key);

function holdsForListings(open: OpenDatabase): void {
  test(`records come in the order of their ids, each once, in bounded batches (seed ${seed})`, async (t) => {
    const random = new Random(seed);
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const ids = new Set<Bytes>();
    while (ids.size < 150) ids.add(asBytes(random.hex(1 + random.below(6))));
    await save(database, ...[...ids].map((id) => ({ id, body: asBytes(`{"id":"${id}"}`) })));
    await save(database, ...[...ids].map((id) => ({ id: asBytes(`_local/${id}`) })));
    const sorted = [...ids].sort();
    const gone = sorted.filter(() => random.oneIn(3));
    for (const id of gone) {
      const { pos, hash } = database.collection.winner(id)!;
      await save(database, { id, rev: { pos, hash }, deleted: true });
    }
    const left = sorted.filter((id) => !gone.includes(id));
    for (const limit of [1, 7, 1_000]) {
      assert.deepEqual(keysOf(await all(reader, 'live', { limit })), left);
      assert.deepEqual(keysOf(await all(reader, 'live', { limit, reverse: true })), left.toReversed());
      assert.deepEqual(keysOf(await all(reader, 'deleted', { limit })), gone);
    }
    assert.deepEqual(
      keysOf(await all(reader, 'local', { limit: 10 })),
      sorted.map((id) => `_local/${id}`),
    );
    for (let round = 0; round < 60; round++) {
      const [start, end] = [random.hex(2), random.hex(2)].sort() as [Bytes, Bytes];
      const inside = left.filter((id) => id >= start && id < end);
      const reverse = random.oneIn(2);
      const [offset, limit] = [random.below(40), random.below(40)];
      const expected = (reverse ? inside.toReversed() : inside).slice(offset, offset + limit);
      const found = await reader.docs('live', { start, end, reverse, offset, limit });
      assert.deepEqual(keysOf(found), expected);
      assert.equal(await reader.countDocs('live', { start, end }), inside.length);
      for (const { key, value } of found) assert.equal(decodeWinner(value).body, `{"id":"${key}"}`);
    }
  });

  test('a batch ends with the record that brings it to its bytes', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const body = asBytes(`{"text":"${'x'.repeat(500)}"}`);
    await save(database, ...Array.from({ length: 40 }, (_, i) => ({ id: asBytes(`doc-${10 + i}`), body })));
    const few = await reader.docs('live', { ...allIds, limit: 40, bytesMax: 2_000 });
    assert.ok(few.length >= 2 && few.length <= 4, `${few.length} records`);
    assert.equal((await reader.docs('live', { ...allIds, limit: 40, bytesMax: 1 })).length, 1);
    const heads = await reader.docs('live', { ...allIds, limit: 40, headBytes: 30, bytesMax: 4_000 });
    assert.deepEqual(
      keysOf(heads),
      Array.from({ length: heads.length }, (_, i) => `doc-${10 + i}`),
    );
    assert.equal((await all(reader, 'live', { limit: 40, bytesMax: 1_000 })).length, 40);
  });

  test('ids that are too long for a key are told by the record', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const ids = Array.from({ length: 6 }, (_, i) => asBytes(`${'y'.repeat(3_000)}${i}`));
    await save(database, ...ids.map((id) => ({ id })), { id: asBytes('z') }, { id: asBytes('a') });
    const found = await all(reader, 'live', { limit: 3 });
    const named = found.map(({ key, value }) => decodeWinner(value).longId ?? key);
    assert.deepEqual(named.toSorted(), ['a', ...ids, 'z']);
    assert.deepEqual([named[0], named.at(-1)], ['a', 'z']);
  });

  test(`documents before a key are counted, also after further writes (seed ${seed})`, async (t) => {
    const random = new Random(seed);
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const ids = new Set<Bytes>();
    for (let round = 0; round < 3; round++) {
      const more = Array.from({ length: 100 }, () => asBytes(random.hex(6))).filter((id) => !ids.has(id));
      await save(database, ...[...new Set(more)].map((id) => ({ id })));
      for (const id of more) ids.add(id);
      await reader.ranked();
      assert.equal(reader.isRanked, true);
      const sorted = [...ids].sort();
      for (const key of ['', '8', random.hex(3), sorted[7]!, `${sorted[7]!}\0`, allIds.end])
        assert.equal(await reader.docsBefore(asBytes(key)), sorted.filter((id) => id < key).length, key);
    }
  });
}

function holdsForChanges(open: OpenDatabase): void {
  test(`each shard gives its changes by sequence, a document by its last one (seed ${seed})`, async (t) => {
    const random = new Random(seed);
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const last = new Map<Bytes, Rev>();
    for (let step = 0; step < 120; step++) {
      const id = asBytes(`doc-${random.below(40)}`);
      const [rev] = await save(database, { id, rev: last.get(id) });
      last.set(id, rev!);
    }
    let seen = 0;
    for (const shard of reader.shards.shards) {
      const { seq: upTo, doc_count } = reader.states[shard]!;
      const query = { after: 0, upTo, descending: false, limit: 1_000 };
      const found = await reader.changes(shard, query);
      seen += found.length;
      assert.equal(found.length, doc_count);
      const seqs = found.map(({ key }) => key);
      assert.deepEqual(
        seqs,
        seqs.toSorted((a, b) => a - b),
      );
      const back = await reader.changes(shard, { ...query, descending: true, limit: 3 });
      assert.deepEqual(
        back.map(({ key }) => key),
        seqs.toReversed().slice(0, 3),
      );
      for (const { key, value } of found) assert.equal(await reader.change(shard, key), value);
      await reader.changesRanked();
      for (const after of [0, ...seqs.slice(0, 5), upTo]) {
        const behind = seqs.filter((seq) => seq > after).length;
        assert.equal(await reader.countChanges(shard, after), behind);
        assert.equal(await reader.rankedChanges(shard, after), behind);
      }
      assert.equal(await reader.change(shard, upTo + 1), undefined);
      assert.deepEqual(
        await reader.numbers('changes', shard, { first: 1, last: upTo, limit: 4 }),
        seqs.slice(0, 4),
      );
      assert.equal(await reader.splitNear(shard), undefined);
    }
    assert.equal(seen, last.size);
  });

  test('purges are remembered by their shards, and what is purged is gone', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const ids = Array.from({ length: 20 }, (_, i) => asBytes(`doc-${i}`));
    const revs = await save(database, ...ids.map((id) => ({ id })));
    await purgeDocs(
      database,
      ids.map((id, i) => ({ id: id, revs: [revs[i]!] })),
    );
    const purged = [];
    for (const shard of reader.shards.shards) {
      for (const { id } of await reader.purges(shard)) {
        assert.equal(database.shardOf(id), shard);
        purged.push(id);
      }
    }
    assert.deepEqual(purged.toSorted(), ids.toSorted());
    for (const id of ids) assert.equal(await reader.winner(id), undefined);
    assert.deepEqual(await reader.docs('live', { ...allIds, limit: 10 }), []);
  });
}

function holdsForTheRest(open: OpenDatabase): void {
  test('blobs are found for as long as a kept revision names them', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    const bytes = 'some bytes';
    const blob = createHash('sha256').update(bytes, 'latin1').digest('hex');
    const [name, type, md5] = ['a.txt', 'text/plain', 'AAAAAAAAAAAAAAAAAAAAAA=='];
    const attachment = { name, type, revpos: 1, md5, length: 10, storedLength: 10, gzip: false, blob };
    const input = plainInput(knownId(asBytes('a')), undefined, encodeContent([attachment], asBytes('{}')));
    const small = new Map([[blob, asBytes(bytes)]]);
    await updateDocs(database, [input], true, { blobs: { small, stored: new Set() } });
    const shard = database.shardOf(asBytes('a'));
    assert.equal(await reader.hasBlob(blob), true);
    assert.equal(await reader.smallBlob(blob), bytes);
    assert.equal(await reader.shardHasBlob(shard, blob), true);
    for (const other of reader.shards.shards)
      assert.equal(await reader.shardHasBlob(other, blob), other === shard);
    const doc = (await reader.doc(asBytes('a')))!;
    const stored = (await reader.winnerBody(shard, (await reader.winner(asBytes('a')))!))!;
    assert.equal(attachmentsOf(stored)[0]!.blob, blob);
    await purgeDocs(database, [{ id: asBytes('a'), revs: [doc.rev] }]);
    assert.equal(await reader.hasBlob(blob), false);
    assert.equal(await reader.smallBlob(blob), undefined);
    assert.equal(await reader.shardHasBlob(shard, blob), false);
  });

  test('partitions are counted', async (t) => {
    const database = await open(t, { q, placement: 'partition' });
    const reader: GroupReader = database.collection;
    const names = ['red', 'green', 'blue', 'grey'];
    await save(
      database,
      ...names.flatMap((name, n) =>
        Array.from({ length: n + 1 }, (_, i) => ({ id: asBytes(`${name}:${i}`) })),
      ),
    );
    for (const [n, name] of names.entries())
      assert.equal((await reader.partition(asBytes(name))).doc_count, n + 1);
    assert.equal((await reader.partition(asBytes('none'))).doc_count, 0);
    const found = await reader.docs('live', { start: asBytes('green:'), end: asBytes('green;'), limit: 10 });
    assert.deepEqual(keysOf(found), ['green:0', 'green:1']);
  });

  test('local documents are read as they were saved last', async (t) => {
    const database = await open(t, { q });
    const reader: GroupReader = database.collection;
    for (const n of [1, 2]) await save(database, { id: asBytes('_local/a'), body: asBytes(`{"n":${n}}`) });
    assert.equal((await reader.local(asBytes('_local/a')))!.body, '{"n":2}');
    await save(database, { id: asBytes('_local/a'), deleted: true });
    assert.equal(await reader.local(asBytes('_local/a')), undefined);
  });
}
