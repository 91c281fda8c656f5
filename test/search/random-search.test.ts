import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { randomQuery, type NaiveDoc } from './naive-search.js';

const client = await startServer();
const letters = 'abcd';
const words = [...letters]
  .flatMap((a) => [...letters].map((b) => `${a}${b}`))
  .concat(['aaa', 'abc', 'cab', 'dcd']);
const kinds = ['red', 'green', 'blue'];

/** The same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const index = `function (doc) {
  index('default', doc.words.join(' '));
  index('number', doc.number);
  index('kind', doc.kind, { facet: true });
}`;

test('random queries find what a look at every document finds, while documents change', async () => {
  const random = randomFrom(20_261);
  const db = await newDb(client, '?q=2');
  await client.put(`${db}/_design/s`, { indexes: { i: { analyzer: 'whitespace', index } } });
  const docs = new Map<string, NaiveDoc>();
  const revs = new Map<string, string>();
  for (let round = 0; round < 8; round++) {
    const changes = Array.from({ length: 40 }, () => {
      const _id = `doc${Math.floor(random() * 120)}`;
      const isDeleted = revs.has(_id) && random() < 0.3;
      const length = 1 + Math.floor(random() * 12);
      const doc: NaiveDoc = {
        words: Array.from({ length }, () => words[Math.floor(random() * words.length)]!),
        number: Math.floor(random() * 30) - 10,
        kind: kinds[Math.floor(random() * kinds.length)]!,
      };
      return { _id, isDeleted, doc };
    });
    const latest = new Map(changes.map((change) => [change._id, change]));
    const body = [...latest.values()].map(({ _id, isDeleted, doc }) => ({
      _id,
      ...(revs.has(_id) && { _rev: revs.get(_id) }),
      ...(isDeleted ? { _deleted: true } : doc),
    }));
    const saved = await client.post(`${db}/_bulk_docs`, { docs: body });
    assertOk(saved, 201);
    for (const { id, rev } of saved.body as { id: string; rev: string }[]) {
      const { isDeleted, doc } = latest.get(id)!;
      if (isDeleted) docs.delete(id);
      else docs.set(id, doc);
      if (isDeleted) revs.delete(id);
      else revs.set(id, rev);
    }
    for (let i = 0; i < 12; i++) {
      const query = randomQuery(words, random);
      const expected = [...docs].flatMap(([id, doc]) => {
        const score = query.score(doc, docs);
        return score === undefined ? [] : [{ id, score, doc }];
      });
      const counts = Object.fromEntries(
        [...kinds]
          .sort()
          .map((kind) => [kind, expected.filter(({ doc }) => doc.kind === kind).length] as const)
          .filter(([, count]) => count > 0),
      );
      // Clauses that find nothing make the search look at few documents at a time.
      const q = i % 3 === 0 ? `${query.text} ${'-nothing '.repeat(900)}` : query.text;
      const answer = await client.post(`${db}/_design/s/_search/i`, { q, limit: 200, counts: ['kind'] });
      assertOk(answer, 200);
      const rows = answer.body.rows as { id: string; order: [number, number] }[];
      assert.equal(answer.body.total_rows, expected.length, query.text);
      assert.deepEqual(rows.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort(), query.text);
      assert.deepEqual(answer.body.counts, { kind: counts }, query.text);
      const scores = new Map(expected.map(({ id, score }) => [id, score]));
      for (const [at, { id, order }] of rows.entries()) {
        assert.ok(
          Math.abs(order[0] - scores.get(id)!) < 1e-9,
          `${query.text}: ${id} ${order[0]} ${scores.get(id)}`,
        );
        if (at > 0) assert.ok(rows[at - 1]!.order[0] >= order[0], query.text);
      }
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
