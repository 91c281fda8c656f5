import { test } from 'node:test';
import { assertOk } from '../support/expect.js';
import { newDb, startServer } from '../support/server.js';
import { randomQuery } from './naive-search.js';
import { corpusIndex, RandomCorpus, randomFrom, vocabulary, type Hit } from './random-corpus.js';

const groupsBefore = process.env['TUFFET_GROUPS'];
process.env['TUFFET_GROUPS'] = '3';
const client = await startServer();
if (groupsBefore === undefined) delete process.env['TUFFET_GROUPS'];
else process.env['TUFFET_GROUPS'] = groupsBefore;

test('relevance is the same, however many groups a database has', async () => {
  const db = await newDb(client, '?q=6');
  await client.put(`${db}/_design/s`, { indexes: { i: corpusIndex } });
  const corpus = new RandomCorpus(client, db, randomFrom(99));
  for (let round = 0; round < 5; round++) {
    await corpus.change(50);
    for (let i = 0; i < 12; i++) {
      const query = randomQuery(vocabulary, corpus.random);
      const answer = await client.post(`${db}/_design/s/_search/i`, { q: query.text, limit: 200 });
      assertOk(answer, 200);
      corpus.checkHits(query, answer.body.rows as Hit[], answer.body.total_rows);
    }
  }
});
