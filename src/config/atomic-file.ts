import fs from 'node:fs';
import path from 'node:path';

/**
 * Puts a file in place as a whole: a crash at any moment leaves the old text or the new one. Synchronous on purpose: a
 * change of the configuration is rare, and must not be seen by others before it is on disk.
 */
export function writeFileAtomically(file: string, text: string, mode: number): void {
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.${path.basename(file)}.${process.pid}`);
  // A crash may have left it, in a container to a process of the same number.
  fs.rmSync(temporary, { force: true });
  try {
    const descriptor = fs.openSync(temporary, 'wx', mode);
    try {
      fs.writeFileSync(descriptor, text);
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    fs.renameSync(temporary, file);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(folder);
}

/** Makes the new name itself durable. Not every platform can open a folder. */
function syncFolder(folder: string): void {
  try {
    const descriptor = fs.openSync(folder, 'r');
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    return;
  }
}
