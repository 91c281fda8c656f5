import fs from 'node:fs';
import path from 'node:path';

/** Makes a new folder and its files last: a file is only durable when the folders that name it are on disk too. */
export async function syncFolder(folder: string): Promise<void> {
  for (const name of namesOf(folder, await fs.promises.readdir(folder))) {
    const handle = await fs.promises.open(name, 'r');
    await handle.sync().finally(() => handle.close());
  }
}

/** The same for a store that was made just now, and holds nothing: that is where a constructor cannot wait. */
export function syncNewFolder(folder: string): void {
  for (const name of namesOf(folder, fs.readdirSync(folder))) {
    const handle = fs.openSync(name, 'r');
    try {
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
  }
}

/**
 * LMDB's lock file is left out: it need not last, and closing it here would drop the locks that this process has on it.
 * Another process that opens the store would then take itself for the first, and clear the table of readers.
 */
function namesOf(folder: string, names: string[]): string[] {
  const parent = path.dirname(folder);
  const files = names.filter((name) => name !== 'lock.mdb');
  return [...files.map((file) => path.join(folder, file)), folder, parent, path.dirname(parent)];
}
