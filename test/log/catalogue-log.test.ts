import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asBytes } from '../../src/base/bytes.js';
import { decodeCatalogueCommand, encodeCatalogueCommand } from '../../src/node/catalogue-codec.js';
import type { CatalogueCommand, CatalogueResults } from '../../src/node/catalogue-commands.js';
import { Catalogue } from '../../src/node/catalogue.js';
import { readShared } from '../../src/node/shared-values.js';
import type { TimeMark } from '../../src/node/time-marks.js';
import { seed } from '../model/random.js';
import { catalogueScene, commands, sharedContents } from './catalogue-commands.js';
import { logSuite, type LogScene } from './log-suite.js';
import { newStores } from './stores.js';

const scene = (encoded: boolean): LogScene<CatalogueCommand, CatalogueResults> => ({
  ...catalogueScene,
  open: (store) => {
    const catalogue = new Catalogue(store, () => {}, encoded);
    return {
      log: catalogue.log,
      contents: () => sharedContents(store),
      close: () => catalogue.close(),
    };
  },
});

for (const [name, newStore] of Object.entries(newStores)) {
  logSuite(`the log of the catalogue, ${name}, seed ${seed}`, newStore, scene(false));
  logSuite(`the log of the catalogue, ${name}, encoded commands, seed ${seed}`, newStore, scene(true));
}

test('the list of databases does not depend on the volumes of the node', async (t) => {
  const stores = [newStores.memory(t)(), newStores.memory(t)()];
  for (const [volumes, store] of stores.entries()) {
    const catalogue = new Catalogue(store, () => {});
    for (let slot = 0; slot < 1 + 3 * volumes; slot++)
      await catalogue.journal.record({ type: 'set_generation', slot, generation: 1 + volumes });
    for (const command of commands) await catalogue.log.append(command);
    assert.equal(catalogue.get('first')!.slot, 3 * volumes);
  }
  const [one, other] = stores.map(sharedContents);
  assert.deepEqual(one, other);
});

test('marks since a time are forgotten, earlier ones stay', async (t) => {
  const catalogue = new Catalogue(newStores.memory(t)(), () => {});
  const marks: TimeMark[] = [10, 20, 30].map((seconds) => [seconds, `${seconds}-x`]);
  for (const [at, name] of ['early', 'late', 'none'].entries()) {
    await catalogue.create(name, { q: 1 });
    const { instance } = catalogue.get(name)!;
    await catalogue.log.append({
      type: 'mark',
      name,
      instance,
      marks: marks.slice(at === 1 ? 1 : 0, 3 - at),
    });
  }
  await catalogue.dropMarksSince(20);
  assert.deepEqual(catalogue.timeMarks('early'), marks.slice(0, 1));
  assert.deepEqual(catalogue.timeMarks('late'), []);
  assert.deepEqual(catalogue.timeMarks('none'), marks.slice(0, 1));
  await catalogue.remove('early');
  assert.deepEqual(catalogue.timeMarks('early'), []);
});

describe('commands of the catalogue as bytes', () => {
  test('what is read back is the command', () => {
    for (const command of commands)
      assert.deepEqual(decodeCatalogueCommand(encodeCatalogueCommand(command)), command);
  });

  test('a command that was cut short, or has something behind its end, is refused', () => {
    for (const type of ['create', 'delete', 'set', 'mark']) {
      const bytes = encodeCatalogueCommand(commands.find((command) => command.type === type)!);
      for (let length = 0; length < bytes.length; length++)
        assert.throws(() => decodeCatalogueCommand(bytes.slice(0, length)), `${type}, ${length} bytes`);
      assert.throws(() => decodeCatalogueCommand(asBytes(`${bytes}\0`)), /goes on behind its end/);
    }
  });

  test('an unknown version or type is refused', () => {
    const bytes = encodeCatalogueCommand(commands[0]!);
    assert.throws(() => decodeCatalogueCommand(asBytes(`\x02${bytes.slice(1)}`)), /has version 2/);
    assert.throws(() => decodeCatalogueCommand(asBytes(`\x01\x09${bytes.slice(2)}`)), /unknown type, 9/);
  });
});

test('a value whose name no store takes is refused, and what follows is applied', async (t) => {
  const store = newStores.memory(t)();
  const { log } = new Catalogue(store, () => {});
  const share = (name: string): CatalogueCommand => ({ type: 'share', name, value: 'x' });
  await assert.rejects(log.append(share('n'.repeat(1_990))), { error: 'bad_request' });
  await log.append(share('short'));
  assert.deepEqual([...readShared(store, '')], [['short', 'x']]);
});
