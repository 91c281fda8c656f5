import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertOk, assertRefused } from '../support/expect.js';
import type { Answer } from '../support/http-client.js';
import { newDb, startServer } from '../support/server.js';

const client = await startServer();
const db = await newDb(client);
const letters = ['a', 'b', 'c', 'd', 'e'];

/** The three listings, each of five documents, and the three ways of asking for them. */
const listings = [
  { name: '_all_docs', prefix: '', db: await newDb(client), total: 5 },
  { name: '_design_docs', prefix: '_design/', db, total: 5 },
  { name: '_local_docs', prefix: '_local/', db, total: null },
];
for (const { db: home, prefix } of listings) {
  for (const letter of letters) await client.put(`${home}/${prefix}${letter}`, { letter });
}

type Parameters = Record<string, unknown>;
const textParameters = new Set(['startkey_docid', 'start_key_doc_id', 'endkey_docid', 'end_key_doc_id']);

const ways: Record<string, (path: string, parameters: Parameters) => Promise<Answer>> = {
  'in the query': (path, parameters) => {
    const pairs = Object.entries(parameters).map(([name, value]) => {
      const text = textParameters.has(name) ? String(value) : JSON.stringify(value);
      return `${name}=${encodeURIComponent(text)}`;
    });
    return client.get(`${path}?${pairs.join('&')}`);
  },
  'in the body': (path, parameters) => client.post(path, parameters),
  'among queries': async (path, parameters) => {
    const answer = await client.post(`${path}/queries`, { queries: [parameters] });
    return { ...answer, body: answer.body?.results?.[0] ?? answer.body };
  },
};

/** Parameters with `~` for the prefix of the ids, and the letters of the rows that should come. */
const cases: [parameters: Parameters, rows: string][] = [
  [{}, 'abcde'],
  [{ descending: false }, 'abcde'],
  [{ descending: true }, 'edcba'],
  [{ startkey: '~b' }, 'bcde'],
  [{ start_key: '~b' }, 'bcde'],
  [{ startkey: '~bb' }, 'cde'],
  [{ endkey: '~b' }, 'ab'],
  [{ end_key: '~b' }, 'ab'],
  [{ startkey: '~b', endkey: '~d' }, 'bcd'],
  [{ startkey: '~d', endkey: '~b', descending: true }, 'dcb'],
  [{ endkey: '~b', inclusive_end: true }, 'ab'],
  [{ endkey: '~b', inclusive_end: false }, 'a'],
  [{ endkey: '~d', inclusive_end: false, descending: true }, 'e'],
  [{ key: '~c' }, 'c'],
  [{ key: '~nothing' }, ''],
  [{ limit: 2 }, 'ab'],
  [{ limit: 0 }, ''],
  [{ limit: 99 }, 'abcde'],
  [{ skip: 0 }, 'abcde'],
  [{ skip: 3 }, 'de'],
  [{ skip: 9 }, ''],
  [{ skip: 1, limit: 2 }, 'bc'],
  [{ skip: 1, limit: 2, descending: true }, 'dc'],
  [{ startkey: '~c', startkey_docid: '~d' }, 'cde'],
  [{ startkey: '~c', start_key_doc_id: '~d' }, 'cde'],
  [{ endkey: '~c', endkey_docid: '~a' }, 'abc'],
  [{ endkey: '~c', end_key_doc_id: '~a' }, 'abc'],
  [{ keys: ['~c', '~a'] }, 'ca'],
  [{ keys: ['~c', '~a', '~c'] }, 'cac'],
];

const prefixed = (value: unknown, prefix: string): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll('~', prefix));

for (const { name, prefix, db: home, total } of listings) {
  for (const [way, ask] of Object.entries(ways)) {
    describe(`${name}, with parameters ${way}`, () => {
      const list = (parameters: Parameters): Promise<Answer> => ask(`${home}/${name}`, parameters);

      for (const [parameters, rows] of cases) {
        test(`${JSON.stringify(parameters)} gives "${rows}"`, async () => {
          const answer = await list(prefixed(parameters, prefix) as Parameters);
          assertOk(answer, 200);
          const ids = answer.body.rows.map(({ id }: { id: string }) => id);
          assert.deepEqual(
            ids,
            [...rows].map((letter) => prefix + letter),
          );
          assert.equal(answer.body.total_rows, total);
        });
      }

      test('include_docs adds the documents, and is off by default', async () => {
        for (const parameters of [{}, { include_docs: false }]) {
          assert.equal((await list({ ...parameters, limit: 1 })).body.rows[0].doc, undefined);
        }
        const [row] = (await list({ include_docs: true, limit: 1 })).body.rows;
        assert.deepEqual(row.doc, { _id: `${prefix}a`, _rev: row.value.rev, letter: 'a' });
      });

      test('update_seq adds the sequence, and is off by default', async () => {
        for (const parameters of [{}, { update_seq: false }]) {
          assert.ok(!('update_seq' in (await list(parameters)).body));
        }
        const { body } = await list({ update_seq: true });
        assert.equal(typeof body.update_seq, name === '_local_docs' ? 'object' : 'string');
      });

      test('wrong types are refused with 400', async () => {
        const wrong = [
          { limit: 'x' },
          { limit: -1 },
          { limit: 1.5 },
          { skip: 'x' },
          { skip: -1 },
          { keys: 'x' },
          { keys: {} },
          { descending: 'x' },
          { descending: 7 },
          { include_docs: 'x' },
          { inclusive_end: 7 },
          { update_seq: 'x' },
          { conflicts: 'x' },
        ];
        for (const parameters of wrong) assertRefused(await list(parameters), 400);
      });
    });
  }
}
