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

function namesOf(folder: string, files: string[]): string[] {
  const parent = path.dirname(folder);
  return [...files.map((file) => path.join(folder, file)), folder, parent, path.dirname(parent)];
}
