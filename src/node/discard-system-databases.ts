import fs from 'node:fs';
import type { Runtime } from '../base/runtime.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { Catalogue } from './catalogue.js';
import type { DataFolder } from './data-folder.js';
import { acceptCopy, incomingFolder, keptPrefix } from './received-copy.js';
import { StoresAtRest } from './stores-at-rest.js';

/**
 * Empties the data folder of a server that becomes a node of a cluster, if it has only the databases that every server begins
 * with, and nothing was saved in them. Otherwise it is left as it is. What was there is kept, as a data folder of its own below
 * this one: a server can still be started with it.
 */
export async function discardSystemDatabases(folder: DataFolder, runtime: Runtime): Promise<void> {
  if (!fs.existsSync(folder.path('catalogue'))) return;
  const stores = StoresAtRest.open(folder.folder);
  const { catalogue } = stores;
  const isUnused = !catalogue.isNew && !catalogue.isOfCluster && stores.whatIsSaved() === undefined;
  await stores.close();
  if (!isUnused) return;
  const target = incomingFolder(folder);
  fs.rmSync(target, { recursive: true, force: true });
  fs.mkdirSync(`${target}/documents`, { recursive: true, mode: 0o700 });
  const kept = `${target}/${keptPrefix}${runtime.date().toISOString().replaceAll(/[:.]/g, '-')}`;
  fs.mkdirSync(`${kept}/attachments`, { recursive: true, mode: 0o700 });
  fs.copyFileSync(folder.path('tuffet.json'), `${kept}/tuffet.json`);
  const empty = new Catalogue(new LmdbStore(`${target}/catalogue`), () => {});
  await empty.journal.record({ type: 'set_id', id: runtime.randomHex(16) });
  await empty.close();
  await acceptCopy(folder);
}
