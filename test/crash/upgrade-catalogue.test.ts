import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asBytes, toBytes, type Bytes } from '../../src/base/bytes.js';
import { Catalogue, type DatabaseRecord } from '../../src/node/catalogue.js';
import { upgradeCatalogue } from '../../src/node/upgrade-catalogue.js';
import type { Write } from '../../src/storage/store.js';
import { CutStore } from './cut-store.js';

const json = (value: object): Bytes => toBytes(JSON.stringify(value));
const generations = [3, 1, 7];

/** As folders of format 1 have it. */
function formatOne(count: number): { writes: Write[]; records: Map<string, DatabaseRecord> } {
  const records = new Map<string, DatabaseRecord>();
  for (let instance = 1; instance <= count; instance++)
    records.set(`db${instance}`, { instance, slot: instance % 3, q: 2, security: { n: 'é' } });
  const writes = [...records].map(([name, record]) => ({ key: toBytes(`d${name}`), value: json(record) }));
  writes.push({ key: asBytes('m'), value: json({ version: 1, next_instance: count + 1, generations }) });
  return { writes, records };
}

const all = { inclusiveEnd: true, descending: false, skip: 0, limit: Infinity };

function checkCatalogue(catalogue: Catalogue, records: ReadonlyMap<string, DatabaseRecord>): void {
  assert.deepEqual(new Set(catalogue.names(all)), new Set(records.keys()));
  for (const [name, record] of records) assert.deepEqual(catalogue.get(name), record);
  assert.deepEqual(catalogue.generations(), generations);
  assert.equal(catalogue.nextInstance, records.size + 1);
}

for (let commits = 0; commits <= 4; commits++) {
  test(`a catalogue whose upgrade stops after ${commits} commits is complete, and the next start goes on`, async () => {
    const store = new CutStore(1 + commits);
    const { writes, records } = formatOne(2_500);
    await store.write(writes).flushed;
    if (commits < 4) await assert.rejects(upgradeCatalogue(store), /the machine stopped/);
    else await upgradeCatalogue(store);
    store.continue();
    const catalogue = new Catalogue(store, () => {});
    checkCatalogue(catalogue, records);
    await catalogue.remove('db1');
    assert.deepEqual(catalogue.erasures(), [{ instance: 1, slot: 1 }]);
    records.delete('db1');
    await catalogue.create('db1', { q: 1 });
    records.set('db1', { instance: 2_501, slot: 2, q: 1 });
    await upgradeCatalogue(store);
    assert.equal(catalogue.nextInstance, 2_502);
    for (const [name, record] of records) assert.deepEqual(catalogue.get(name), record);
    for (const { key, value } of store.entries({ start: asBytes('d'), end: asBytes('n') }))
      assert.doesNotMatch(value, /slot|generations/, key);
  });
}
