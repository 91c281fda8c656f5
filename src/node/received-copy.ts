import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { blobsNamedIn } from '../shard/volume-blobs.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { syncFolder } from '../storage/sync-folder.js';
import { Catalogue, groupsOf } from './catalogue.js';
import { copyPrefix } from './copy-stores.js';
import type { DataFolder } from './data-folder.js';
import { instancesIn } from './instances.js';

/** Where the stores of another node are put while they come, and when all of them are there. */
const incoming = 'incoming';
const complete = 'incoming.complete';
const second = 'incoming.second';

/** A folder of a copy whose name begins like this gets the stores that the copy replaces, and is kept. */
export const keptPrefix = 'before-cluster-';

const begunMeanwhile = (): StartupError =>
  new StartupError('Another node began a volume while its databases were copied. Start this node again.');

/** A folder for the stores of a further node, of which only some groups are taken. */
export const secondFolder = (folder: DataFolder): string => folder.path(second);

/** Removes copies, for this node or another one, that were not complete when the process ended. */
export function removeUnfinishedCopies(folder: DataFolder): void {
  const isUnfinished = (name: string): boolean =>
    name === incoming || name === second || name.startsWith(copyPrefix);
  for (const name of fs.readdirSync(folder.folder).filter(isUnfinished))
    fs.rmSync(folder.path(name), { recursive: true, force: true });
}

/** A folder for the stores of another node, which are to replace those of this one. */
export const incomingFolder = (folder: DataFolder): string => folder.path(incoming);

/**
 * Makes what was received fit for this node. Gives the attachments that its documents name. Throws where a volume was begun
 * while the others were copied, so that it is missing. `isOwn` says that the catalogue is the one of this node.
 */
export async function prepareCopy(folder: DataFolder, isOwn: boolean): Promise<Set<string>> {
  const blobs = new Set<string>();
  await withCatalogue(folder.path(incoming, 'catalogue'), async (catalogue) => {
    const generations = catalogue.generations();
    const copied = fs.readdirSync(folder.path(incoming, 'documents'));
    if (copied.length !== generations.length) throw begunMeanwhile();
    for (const [slot, generation] of generations.entries()) {
      const volume = folder.path(incoming, 'documents', `${slot}.${generation}`);
      fs.renameSync(folder.path(incoming, 'documents', String(slot)), volume);
      const store = new LmdbStore(volume);
      for (const blob of blobsNamedIn(store)) blobs.add(blob);
      await noteDeleted(catalogue, store, slot);
      await store.close();
    }
    // They are the other node's.
    for (const { id } of isOwn ? [] : catalogue.reshardJobs())
      await catalogue.journal.record({ type: 'remove_job', id });
  });
  return blobs;
}

/** Databases that were deleted between the copy of the volume and that of the catalogue. */
async function noteDeleted(catalogue: Catalogue, store: LmdbStore, slot: number): Promise<void> {
  const known = new Set(
    catalogue.databases().flatMap(([, record]) => groupsOf(record).map(({ group }) => group)),
  );
  for (const { instance } of catalogue.erasures()) known.add(instance);
  for (const instance of instancesIn(store))
    if (!known.has(instance)) await catalogue.journal.record({ type: 'erase', instance, slot });
}

/** From now on the copy counts, also if the server ends before it is in its place. */
export async function acceptCopy(folder: DataFolder): Promise<void> {
  fs.renameSync(folder.path(incoming), folder.path(complete));
  await syncFolder(folder.folder);
  await installCopy(folder);
}

/** Puts a copy that is complete into the place of the stores of this node. Does nothing where there is none. */
export async function installCopy(folder: DataFolder): Promise<void> {
  const source = folder.path(complete);
  if (!fs.existsSync(source)) return;
  fs.rmSync(folder.path('indexes'), { recursive: true, force: true });
  const kept = fs.readdirSync(source).find((name) => name.startsWith(keptPrefix));
  for (const name of ['documents', 'catalogue']) {
    if (!fs.existsSync(path.join(source, name))) continue;
    if (kept !== undefined && fs.existsSync(folder.path(name)))
      fs.renameSync(folder.path(name), path.join(source, kept, name));
    fs.rmSync(folder.path(name), { recursive: true, force: true });
    fs.renameSync(path.join(source, name), folder.path(name));
  }
  if (kept !== undefined) {
    await syncFolder(path.join(source, kept));
    fs.renameSync(path.join(source, kept), folder.path(kept));
  }
  await syncFolder(folder.folder);
  await withCatalogue(folder.path('catalogue'), (catalogue) => {
    if (catalogue.id !== undefined) folder.catalogueId = catalogue.id;
    return Promise.resolve();
  });
  fs.rmSync(source, { recursive: true, force: true });
}

async function withCatalogue(folder: string, use: (catalogue: Catalogue) => Promise<void>): Promise<void> {
  const catalogue = new Catalogue(new LmdbStore(folder), () => {});
  try {
    await use(catalogue);
  } finally {
    await catalogue.close();
  }
}
