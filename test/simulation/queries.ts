import assert from 'node:assert/strict';
import { asBytes } from '../../src/base/bytes.js';
import type { Random } from '../model/random.js';
import { diskError, expectStatus, parse, type Answer } from './client.js';
import { best, type Facts } from './facts.js';
import { databaseName, type Life } from './life.js';

/** What a query gave of a document. */
interface Found {
  id: string;
  n: number;
}

interface Kind {
  name: string;
  /** Undefined where the disk was the reason for an error. */
  ask(life: Life, random: Random): Promise<Found[] | undefined>;
}

function rowsOf<T>(answer: Answer, name: string, read: (answer: Answer) => T): T | undefined {
  if (diskError(answer) !== undefined) return undefined;
  expectStatus(answer, name, 200);
  return read(answer);
}

const listing: Kind = {
  name: 'listing',
  async ask({ client }) {
    const answer = await client.send('GET', `/${databaseName}/_all_docs?include_docs=true`);
    type Rows = { rows: { id: string; doc: { n: number } }[] };
    const rows = rowsOf(answer, 'listing', (found) => parse<Rows>(found).rows);
    return rows?.filter(({ id }) => !id.startsWith('_design/')).map(({ id, doc }) => ({ id, n: doc.n }));
  },
};

const view: Kind = {
  name: 'view',
  async ask({ client }, random) {
    const descending = random.oneIn(2);
    const path = `/${databaseName}/_design/views/_view/numbers?reduce=false&descending=${descending}`;
    type Rows = { rows: { id: string; key: number; value: number }[] };
    const rows = rowsOf(await client.send('GET', path), 'view', (found) => parse<Rows>(found).rows);
    if (rows === undefined) return undefined;
    if (descending) rows.reverse();
    for (const [at, { id, key, value }] of rows.entries()) {
      assert.equal(key, value % 3, `${id}: the key of a view`);
      const next: Rows['rows'][number] | undefined = rows[at + 1];
      if (next !== undefined)
        assert.ok(key < next.key || (key === next.key && id < next.id), 'the order of a view');
    }
    return rows.map(({ id, value }) => ({ id, n: value }));
  },
};

const find: Kind = {
  name: 'find',
  async ask({ client }, random) {
    const json = {
      selector: { n: { $gte: 0 } },
      sort: [{ n: random.oneIn(2) ? 'asc' : 'desc' }],
      fields: ['_id', 'n'],
      limit: 100_000,
    };
    const answer = await client.send('POST', `/${databaseName}/_find`, json);
    type Docs = { docs: { _id: string; n: number }[] };
    const docs = rowsOf(answer, 'find', (found) => parse<Docs>(found).docs);
    return docs?.map(({ _id, n }) => ({ id: _id, n }));
  },
};

const kinds = [listing, view, find];

/**
 * Asks for all documents in one of several ways while others write, and checks that none is there twice, that none is left
 * out or outdated that did not change meanwhile, and that no write is shown that was refused.
 */
export async function query(
  life: Life,
  facts: Facts,
  random: Random,
  trace: (event: string) => void,
): Promise<void> {
  const kind = random.pick(kinds);
  const before = living(life, facts);
  const found = await kind.ask(life, random);
  trace(`${kind.name} ${found?.map(({ id, n }) => `${id}:${n}`).join() ?? 'refused'}`);
  if (found !== undefined) compare(kind.name, facts, found, before, living(life, facts));
}

/** The same for all ways, when nothing changes any more. */
export async function queryAll(life: Life, facts: Facts, random: Random): Promise<void> {
  const there = living(life, facts);
  for (const kind of kinds) {
    const found = await kind.ask(life, random);
    assert.ok(found !== undefined, `${kind.name}: refused`);
    compare(kind.name, facts, found, there, there);
    const known = found.filter(({ id }) => !facts.purged.has(asBytes(id)));
    assert.equal(known.length, there.size, `${kind.name}: documents that are deleted`);
    if (kind === view) await checkReduced(life, found);
  }
}

async function checkReduced({ client }: Life, found: readonly Found[]): Promise<void> {
  const answer = await client.send('GET', `/${databaseName}/_design/views/_view/numbers?group=true`);
  expectStatus(answer, 'reduced view', 200);
  type Rows = { rows: { key: number; value: { sum: number; count: number } }[] };
  for (const { key, value } of parse<Rows>(answer).rows) {
    const numbers = found.map(({ n }) => n).filter((n) => n % 3 === key);
    assert.deepEqual(
      { sum: value.sum, count: value.count },
      { sum: numbers.reduce((sum, n) => sum + n, 0), count: numbers.length },
      `the values reduced for ${key}`,
    );
  }
}

/**
 * The winners of all documents that are not deleted, by their ids. The simulated store shows some before their writes are
 * acknowledged; those may be missing in indexes.
 */
function living({ database }: Life, facts: Facts): Map<string, { rev: string; n: number; isKnown: boolean }> {
  const winners = facts.ids.flatMap((id) => {
    const known = facts.keptOf(id);
    const winner = best(facts.look(database, id));
    if (winner === undefined || winner.deleted) return [];
    return [[id, { rev: winner.rev, n: winner.n, isKnown: known.includes(winner.rev) }] as const];
  });
  return new Map(winners);
}

function compare(
  name: string,
  facts: Facts,
  found: readonly Found[],
  before: ReturnType<typeof living>,
  after: ReturnType<typeof living>,
): void {
  const byId = new Map(found.map((each) => [each.id, each]));
  assert.equal(byId.size, found.length, `${name}: a document is there twice`);
  for (const { id, n } of found) facts.checkStored(n, `${name}: ${id}`);
  for (const [id, { rev, n, isKnown }] of before) {
    if (!isKnown || after.get(id)?.rev !== rev) continue;
    assert.equal(byId.get(id)?.n, n, `${name}: ${id} is ${rev} all the time`);
  }
}
