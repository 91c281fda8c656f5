import fs from 'node:fs';
import path from 'node:path';

/** Makes a new folder and its files last: a file is only there for good when the folders that name it are on disk too. */
export function syncFolder(folder: string): void {
  const files = fs.readdirSync(folder).map((file) => path.join(folder, file));
  for (const name of [...files, folder, path.dirname(folder), path.dirname(path.dirname(folder))]) {
    const handle = fs.openSync(name, 'r');
    try {
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
  }
}
