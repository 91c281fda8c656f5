import { asBytes, type Bytes } from '../../src/base/bytes.js';
import type { NodeEntry, NodeResults } from '../../src/node/catalogue-journal.js';
import { Catalogue } from '../../src/node/catalogue.js';
import { encodeContent } from '../../src/shard/content.js';
import { DatabaseKeys } from '../../src/shard/keys.js';
import type { VolumeEntry, VolumeResults } from '../../src/shard/volume-journal.js';
import { Volume } from '../../src/shard/volume.js';
import { submit } from '../support/submit.js';
import { journalSuite, type JournalScene } from './journal-suite.js';
import { newStores } from './stores.js';

const instance = 3;
const keys = new DatabaseKeys(instance);
const [needed, other] = ['ab'.repeat(32), 'cd'.repeat(32)];

/** Saves a document with an attachment that is kept as a file. */
async function saveAttached(volume: Volume, instance: number): Promise<void> {
  const sizes = { length: 5, storedLength: 5, revpos: 1 };
  const attachment = { name: 'a', type: 't', md5: 'm', gzip: false, blob: needed, ...sizes };
  const body = encodeContent([attachment], asBytes('{}'));
  const edits = [{ id: asBytes('doc'), parent: undefined, path: undefined, deleted: false, body }];
  const stored_blobs = new Set([needed]);
  await submit(volume, { type: 'edit', instance, shard: 0, revs_limit: 1, edits, stored_blobs });
}

function volumeScene(encoded: boolean): JournalScene<VolumeEntry, VolumeResults> {
  return {
    open: (store) => {
      const volume = new Volume(0, store, () => {}, encoded);
      const prepare = async (): Promise<void> => {
        await saveAttached(volume, instance);
        await saveAttached(volume, instance + 1);
      };
      return { journal: volume.journal, prepare, close: () => volume.close() };
    },
    entries: [
      { type: 'stamp', stamp: { catalogue: 'c'.repeat(32), slot: 0, generation: 2 } },
      { type: 'mark_released', blob: other },
      { type: 'mark_released', blob: needed },
      { type: 'erase', instance, keys: erasedKeys() },
      { type: 'forget_released', blob: needed },
      { type: 'forget_released', blob: other },
      { type: 'stamp', stamp: { catalogue: 'c'.repeat(32), slot: 0, generation: 3 } },
    ],
  };
}

const erasedKeys = (): Bytes[] => [
  keys.live(asBytes('doc')),
  keys.change(0, 1),
  keys.group,
  keys.state(0),
  keys.blobRef(0, Buffer.from(needed, 'hex').latin1Slice(0, 32)),
];

function catalogueScene(encoded: boolean): JournalScene<NodeEntry, NodeResults> {
  return {
    open: (store) => {
      const catalogue = new Catalogue(store, () => {}, encoded);
      const prepare = async (): Promise<void> => {
        await catalogue.create('one', { q: 1 });
        await catalogue.create('two', { q: 1 });
        await catalogue.remove('one');
      };
      return { journal: catalogue.journal, prepare, close: () => catalogue.close() };
    },
    entries: [
      { type: 'set_id', id: 'f'.repeat(32) },
      { type: 'set_generation', slot: 0, generation: 1 },
      { type: 'set_generation', slot: 1, generation: 1 },
      { type: 'set_generation', slot: 0, generation: 5 },
      { type: 'erased', instance: 1 },
    ],
  };
}

for (const [name, newStore] of Object.entries(newStores)) {
  for (const encoded of [false, true]) {
    const how = encoded ? `${name}, copied entries` : name;
    journalSuite(`the journal of a volume, ${how}`, newStore, volumeScene(encoded));
    journalSuite(`the journal in the catalogue, ${how}`, newStore, catalogueScene(encoded));
  }
}
