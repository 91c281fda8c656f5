import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../model/random.js';
import { startServers } from './servers.js';

const reduces = [
  '_first',
  '_last',
  '_top_3',
  '_bottom_4',
  '_sum',
  '_count',
  '_stats',
  '_approx_count_distinct',
];

const design = {
  _id: '_design/d',
  views: Object.fromEntries(
    reduces.map((reduce) => [
      reduce.slice(1),
      { map: 'function (doc) { emit(doc.key, doc.n); if (doc.n % 3 === 0) emit(doc.key, -doc.n); }', reduce },
    ]),
  ),
};

const options = [
  '',
  'descending=true',
  'start_key=[1]',
  'end_key=[3]&inclusive_end=false',
  'start_key=[3]&end_key=[1]&descending=true',
  'key=[2,"b"]',
  'start_key=[2,"a"]&start_key_doc_id=m&end_key=[2,"b"]&end_key_doc_id=m',
  'start_key=[9]',
  'group=true',
  'group=true&descending=true&skip=3&limit=7',
  'group=true&keys=[[0,"a"],[4,"b"],[0,"a"],[7]]',
  'group=true&start_key=[1]&end_key=[3,"é"]',
  'group_level=1',
  'group_level=1&skip=1&limit=2',
  'group_level=1&descending=true&start_key=[3,"b"]',
  'group_level=1&start_key=[1,"é"]&start_key_doc_id=k',
];

/** Composed and decomposed, which compare as equal. */
const names = ['a', 'b', 'é', 'e\u0301'];

function someDocs(random: Random, count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    _id: `${random.pick(['a', 'h', 'm', 'p', 'z'])}${random.hex(8)}`,
    key: [random.below(5), random.pick(names)],
    n,
  }));
}

test(`every built-in reduce gives the same in three groups as in one (seed ${seed})`, async (t) => {
  const { one, three } = await startServers();
  const docs = someDocs(new Random(seed), 700);
  for (const client of [one, three]) {
    assert.equal((await client.put('/db?q=8')).status, 201);
    assert.equal((await client.post('/db/_bulk_docs', { docs: [design, ...docs] })).status, 201);
  }
  for (const reduce of reduces) {
    await t.test(reduce, async () => {
      for (const option of options) {
        const path = `/db/_design/d/_view/${reduce.slice(1)}?${encodeURI(option)}`;
        const [expected, found] = await Promise.all([one, three].map((client) => client.get(path)));
        assert.equal(expected!.status, 200, expected!.text);
        assert.equal(found!.text, expected!.text, option);
      }
    });
  }
});
