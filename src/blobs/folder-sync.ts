import { open } from 'node:fs/promises';

interface Syncs {
  running: Promise<void>;
  next: Promise<void> | undefined;
}

/**
 * Makes names in folders durable. Calls made while the folder is being synced share the next turn: the one under way
 * may have begun before their name was there.
 */
export class FolderSync {
  readonly #folders = new Map<string, Syncs>();

  sync(folder: string): Promise<void> {
    const syncs = this.#folders.get(folder);
    if (syncs === undefined) return this.#start(folder);
    syncs.next ??= syncs.running.catch(() => undefined).then(() => this.#start(folder));
    return syncs.next;
  }

  #start(folder: string): Promise<void> {
    const syncs: Syncs = { running: syncFolder(folder), next: undefined };
    this.#folders.set(folder, syncs);
    const done = (): void => {
      if (syncs.next === undefined) this.#folders.delete(folder);
    };
    syncs.running.then(done, done);
    return syncs.running;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const opened = await openFolder(folder);
  try {
    await opened.sync();
  } finally {
    opened.close();
  }
}

/** A folder made ready, so that nothing but the disk is waited for when a name in it is to be made durable. */
export interface OpenFolder {
  sync(): Promise<void>;
  close(): void;
}

/** Windows cannot open folders, and keeps their names safe by itself. */
export async function openFolder(folder: string): Promise<OpenFolder> {
  if (process.platform === 'win32') return { sync: () => Promise.resolve(), close: () => undefined };
  const handle = await open(folder, 'r');
  return {
    sync: () => handle.sync(),
    // Nothing was written by it that closing could still fail.
    close: () => void handle.close().catch(() => undefined),
  };
}
