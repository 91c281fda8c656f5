import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { randomQuery, type NaiveDoc } from './naive-search.js';
import { corpusIndex, countsOf, RandomCorpus, randomFrom, vocabulary, type Hit } from './random-corpus.js';

const client = await startServer();

async function newCorpus(seed: number, query = '', prefix = ''): Promise<RandomCorpus> {
  const db = await newDb(client, query);
  await client.put(`${db}/_design/s`, { indexes: { i: corpusIndex } });
  return new RandomCorpus(client, db, randomFrom(seed), prefix);
}

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

test('random queries find what a look at every document finds, while documents change', async () => {
  const corpus = await newCorpus(20_261, '?q=2');
  for (let round = 0; round < 10; round++) {
    await corpus.change(40);
    for (let i = 0; i < 15; i++) {
      const query = randomQuery(vocabulary, corpus.random);
      // Clauses that find nothing make the search look at few documents at a time.
      const q = i % 3 === 0 ? `${query.text} ${'-nothing '.repeat(900)}` : query.text;
      const answer = await client.post(`${corpus.db}/_design/s/_search/i`, { q, limit: 200 });
      assertOk(answer, 200);
      corpus.checkHits(query, answer.body.rows as Hit[], answer.body.total_rows);
    }
  }
});

test('facets, drilldown, sorting and groups are those of a look at every document', async () => {
  const corpus = await newCorpus(31, '?q=2');
  const path = `${corpus.db}/_design/s/_search/i`;
  const ranges = { number: { low: '[* TO 0}', middle: '[0 TO 10]', high: '{10 TO *]' } };
  const inRange = {
    low: (n: number) => n < 0,
    middle: (n: number) => n >= 0 && n <= 10,
    high: (n: number) => n > 10,
  };
  for (let round = 0; round < 6; round++) {
    await corpus.change(40);
    for (let i = 0; i < 6; i++) {
      const query = randomQuery(vocabulary, corpus.random);
      const drilldown = [
        ['kind', 'red', 'blue'],
        ['tag', 'new'],
      ].slice(i % 3);
      const isDrilled = (doc: NaiveDoc): boolean =>
        drilldown.every(([field, ...texts]) =>
          (field === 'kind' ? [doc.kind] : doc.tags).some((text) => texts.includes(text)),
        );
      const found = corpus.found(query).filter(({ doc }) => isDrilled(doc));
      const asked = { q: query.text, limit: 200, ...(drilldown.length > 0 && { drilldown }) };
      const sort = ['-number<number>', 'kind<string>', '_id'];
      const answer = await client.post(path, { ...asked, counts: ['kind', 'tag'], ranges, sort });
      assertOk(answer, 200);
      const { body } = answer;
      assert.equal(body.total_rows, found.length, query.text);
      assert.deepEqual(body.counts, {
        kind: countsOf(found, ({ kind }) => [kind]),
        tag: countsOf(found, ({ tags }) => tags),
      });
      const counted = Object.entries(inRange).map(([name, is]) => [
        name,
        found.filter(({ doc }) => is(doc.number)).length,
      ]);
      assert.deepEqual(body.ranges, { number: Object.fromEntries(counted) });
      const sorted = found.toSorted(
        (a, b) => b.doc.number - a.doc.number || compare(a.doc.kind, b.doc.kind) || compare(a.id, b.id),
      );
      assert.deepEqual(
        (body.rows as Hit[]).map(({ id }) => id),
        sorted.map(({ id }) => id),
        query.text,
      );
      await checkGroups(path, asked, found);
    }
  }
});

async function checkGroups(
  path: string,
  asked: object,
  found: readonly { id: string; score: number; doc: NaiveDoc }[],
): Promise<void> {
  const group = { group_field: 'kind', group_sort: '"kind<string>"', group_limit: 2, limit: 3, sort: '_id' };
  const { body } = await client.post(path, { ...asked, ...group, group_sort: 'kind<string>' });
  const kinds = [...new Set(found.map(({ doc }) => doc.kind))].sort();
  const expected = kinds.slice(0, 2).map((kind) => {
    const ids = found.filter(({ doc }) => doc.kind === kind).map(({ id }) => id);
    return { by: kind, total_rows: ids.length, ids: ids.sort().slice(0, 3) };
  });
  const groups = (body.groups as { by: string; total_rows: number; rows: Hit[] }[]).map(
    ({ by, total_rows, rows }) => ({ by, total_rows, ids: rows.map(({ id }) => id) }),
  );
  assert.equal(body.total_rows, found.length);
  assert.deepEqual(groups, expected);
}

test('pages by bookmark show every document that stays as it is once, while others change', async () => {
  const corpus = await newCorpus(77);
  for (let round = 0; round < 4; round++) {
    await corpus.change(150);
    const before = new Map(corpus.docs);
    const seen: string[] = [];
    let bookmark: string | undefined;
    for (;;) {
      const asked = { q: '*:*', sort: ['number<number>', '_id'], limit: 9, bookmark };
      const { body } = await client.post(`${corpus.db}/_design/s/_search/i`, asked);
      const rows = body.rows as Hit[];
      if (rows.length === 0) break;
      seen.push(...rows.map(({ id }) => id));
      bookmark = body.bookmark as string;
      await corpus.change(3);
    }
    const kept = [...before].filter(([id, doc]) => corpus.docs.get(id) === doc);
    const sorted = kept.sort(([a, x], [b, y]) => x.number - y.number || compare(a, b)).map(([id]) => id);
    const stayed = new Set(sorted);
    assert.deepEqual(
      seen.filter((id) => stayed.has(id)),
      sorted,
    );
  }
});

test('each partition is searched as if it were alone', async () => {
  const first = await newCorpus(5, '?partitioned=true', 'p1:');
  const second = new RandomCorpus(client, first.db, first.random, 'p2:');
  for (let round = 0; round < 3; round++)
    for (const [corpus, partition] of [
      [first, 'p1'],
      [second, 'p2'],
    ] as const) {
      await corpus.change(40, 60);
      for (let i = 0; i < 8; i++) {
        const query = randomQuery(vocabulary, corpus.random);
        const path = `${corpus.db}/_partition/${partition}/_design/s/_search/i`;
        const { body } = await client.post(path, { q: query.text, limit: 200 });
        corpus.checkHits(query, body.rows as Hit[], body.total_rows);
      }
    }
});

test('terms of many documents stay exact while these change', async () => {
  const random = randomFrom(7);
  const db = await newDb(client, '?q=2');
  await client.put(`${db}/_design/s`, {
    indexes: { i: { index: "function (doc) { index('default', doc.text); }" } },
  });
  const texts = new Map<string, string>();
  const revs = new Map<string, string>();
  const textOf = (n: number): string =>
    `common word${n % 3} ${n % 5 === 0 ? 'common '.repeat(n % 11) : ''} end${n % 40}`;
  const save = async (changes: Map<string, string | undefined>): Promise<void> => {
    const docs = [...changes].map(([_id, text]) => ({
      _id,
      ...(revs.has(_id) && { _rev: revs.get(_id) }),
      ...(text === undefined ? { _deleted: true } : { text }),
    }));
    const saved = await client.post(`${db}/_bulk_docs`, { docs });
    assertOk(saved, 201);
    for (const { id, rev } of saved.body as { id: string; rev: string }[]) {
      const text = changes.get(id);
      if (text === undefined) {
        texts.delete(id);
        revs.delete(id);
      } else {
        texts.set(id, text);
        revs.set(id, rev);
      }
    }
  };
  const check = async (q: string, matches: (text: string) => boolean): Promise<void> => {
    const { body } = await client.post(`${db}/_design/s/_search/i`, { q, limit: 200, sort: '_id' });
    const expected = [...texts].filter(([, text]) => matches(text)).map(([id]) => id);
    assert.equal(body.total_rows, expected.length, q);
    const ids = body.rows.map(({ id }: { id: string }) => id);
    assert.deepEqual(ids, expected.sort().slice(0, 200), q);
  };
  await save(new Map(Array.from({ length: 1_500 }, (_, n) => [`d${n}`, textOf(n)])));
  for (let round = 0; round < 6; round++) {
    await check('common', (text) => text.includes('common'));
    await check('+common +word1 -end7', (text) => /word1\b/.test(text) && !/end7\b/.test(text));
    await check('"common word2"', (text) => text.includes('common word2'));
    await check('end1*', (text) => /end1/.test(text));
    const count = round % 2 === 0 ? 3 : 300;
    const changed = Array.from({ length: count }, (): [string, string | undefined] => {
      const n = Math.floor(random() * 1_600);
      const text = random() < 0.3 ? 'something else' : textOf(Math.floor(random() * 5_000));
      return [`d${n}`, revs.has(`d${n}`) && random() < 0.4 ? undefined : text];
    });
    await save(new Map(changed));
  }
});
