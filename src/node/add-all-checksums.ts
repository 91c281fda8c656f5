import fs from 'node:fs';
import path from 'node:path';
import type { Logger } from '../base/logger.js';
import { StartupError } from '../base/startup-error.js';
import { addChecksums } from '../storage/add-checksums.js';
import { lmdbProblem } from '../storage/lmdb-pages.js';
import type { DataFolder } from './data-folder.js';

/**
 * Gives the records of a folder of an earlier version their checksums, store by store, before anything else reads them.
 * Refuses, before it changes anything, where pages of the catalogue or of documents are damaged. Indexes that are damaged
 * are left as they are: the checks that follow remove them. `endChecksums` is called after these checks.
 */
export async function addAllChecksums(folder: DataFolder, logger: Logger): Promise<void> {
  const stores = storesIn(folder);
  const sound = stores.filter((store) => isSound(folder, store));
  if (stores.length > 0) {
    logger.notice({ folder: folder.folder }, 'upgrading the data folder: records get checksums');
    folder.beginChecksums();
  }
  for (const store of sound) await addTo(store);
}

function isSound(folder: DataFolder, store: string): boolean {
  const file = path.join(store, 'data.mdb');
  const problem = lmdbProblem(file);
  if (problem === undefined) return true;
  // Whether an empty store may be is for the checks that follow: a first start may have been cut short.
  if (problem === 'is empty' || path.dirname(store) === folder.path('indexes')) return false;
  throw new StartupError(
    `The folder can't be upgraded: ${file} ${problem}. Nothing was changed. Restore the data folder from a backup, or ` +
      'copy what can still be read with the version that wrote it.',
  );
}

async function addTo(store: string): Promise<void> {
  try {
    await addChecksums(store);
  } catch (error) {
    throw new StartupError(
      `The store ${store} could not be upgraded: ${(error as Error).message}. Nothing is lost; the next start goes on with it.`,
      { cause: error },
    );
  }
}

/** All folders with a store, whether or not the catalogue names them. What has another name is not the server's. */
function storesIn(folder: DataFolder): string[] {
  const below = (name: string, pattern: RegExp): string[] => {
    const full = folder.path(name);
    const names = fs.existsSync(full) ? fs.readdirSync(full) : [];
    return names.filter((each) => pattern.test(each)).map((each) => path.join(full, each));
  };
  const all = [folder.path('catalogue'), ...below('documents', /^\d+\.\d+$/), ...below('indexes', /^\d+$/)];
  return all.filter((store) => fs.existsSync(path.join(store, 'data.mdb')));
}
