import assert from 'node:assert/strict';
import test from 'node:test';
import { RandomSelector } from '../selectors/random-selector.js';
import { RandomJson } from '../support/random-json.js';
import { newDb, startServer } from '../support/server.js';
import { seed } from '../model/random.js';

/**
 * The same documents in two databases, one with text indexes and one without: whatever the selector says, a text index finds
 * what a scan finds, while documents change and go.
 */
const client = await startServer();
const random = new RandomJson(seed);
const plain = await newDb(client);
const indexed = await newDb(client);
const fields = ['a:string', 'a:number', 'b:number', 'a.b:string', 'a.[]:string', 'c:boolean', 'x\\.y:string'];
const indexes: Record<string, object> = {
  all: {},
  some: {
    fields: fields.map((field) => ({ name: field.replace(/:\w+$/, ''), type: field.replace(/^.*:/, '') })),
    default_field: false,
  },
};
const revs = new Map<string, string>();

for (const [ddoc, index] of Object.entries(indexes)) {
  const made = await client.post(`${indexed}/_index`, { type: 'text', index, ddoc, name: ddoc });
  assert.equal(made.status, 200, made.text);
}

const idOf = (n: number): string => `${'zZaAéy'[n % 6]}${n}`;

/** Writes some documents anew, or deletes them, in both databases. */
async function change(count: number, round: number): Promise<void> {
  const docs = new Map<string, Record<string, unknown>>();
  const bodies = new RandomSelector(seed + 7_000 + round);
  for (let i = 0; i < count; i++) {
    const n = random.below(120);
    const _id = idOf(n);
    const _rev = revs.get(_id);
    const isGone = _rev !== undefined && random.below(4) === 0;
    const body = isGone
      ? { _deleted: true }
      : { ...bodies.object(3), ...(n % 3 > 0 ? { a: bodies.value(2) } : {}) };
    docs.set(_id, { ...body, _id, ...(_rev === undefined ? {} : { _rev }) });
  }
  const changed = [...docs.values()];
  for (const db of [plain, indexed]) {
    const answer = await client.post(`${db}/_bulk_docs`, { docs: changed });
    for (const [i, { id, rev, error }] of (
      answer.body as { id: string; rev: string; error?: string }[]
    ).entries()) {
      assert.equal(error, undefined, `TUFFET_SEED=${seed} ${answer.text}`);
      if (db !== indexed) continue;
      if (changed[i]!['_deleted'] === true) revs.delete(id);
      else revs.set(id, rev);
    }
  }
}

async function ids(db: string, body: object): Promise<string[]> {
  const answer = await client.post(`${db}/_find`, { limit: 1_000, fields: ['_id'], ...body });
  assert.equal(answer.status, 200, `TUFFET_SEED=${seed} ${JSON.stringify(body)}: ${answer.text}`);
  return (answer.body.docs as { _id: string }[]).map(({ _id }) => _id).sort();
}

test('a text index finds what a scan finds, during updates and deletions', async () => {
  const used: Record<string, number> = { all: 0, some: 0 };
  await change(150, 0);
  for (let round = 1; round <= 130; round++) {
    if (round % 5 === 0) await change(8, round);
    const selector = new RandomSelector(seed + round).selector(2);
    const label = `TUFFET_SEED=${seed} ${JSON.stringify(selector)}`;
    const expected = await ids(plain, { selector });
    for (const use_index of Object.keys(indexes)) {
      const { body } = await client.post(`${indexed}/_explain`, { selector, use_index });
      if ((body.index as { name: string } | undefined)?.name !== use_index) continue;
      used[use_index]!++;
      const found = await ids(indexed, { selector, use_index });
      assert.deepEqual(found, expected, `${label} ${use_index}`);
      if (round % 10 > 0) continue;
      const counted = await client.post(`${indexed}/_find`, { selector, use_index, limit: 1, count: true });
      assert.equal(counted.body.count, expected.length, label);
    }
  }
  assert.ok(used['all']! > 90 && used['some']! > 15, `the indexes were used ${JSON.stringify(used)} times`);
});

test('a text index finds nothing where a scan does, as ids stand behind lists', async () => {
  const selector = { _id: { $gt: ['a'], $lte: 'zz' }, $nor: [{ a: 'nowhere' }] };
  const { body } = await client.post(`${indexed}/_explain`, { selector, use_index: 'all' });
  assert.equal((body.index as { name: string }).name, 'all');
  assert.deepEqual(await ids(plain, { selector }), []);
  assert.deepEqual(await ids(indexed, { selector, use_index: 'all' }), []);
});
