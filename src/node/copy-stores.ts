import fs from 'node:fs';
import path from 'node:path';

/** A file of a copy: `documents/` and the number of the volume's slot, or `catalogue`. */
export interface CopiedFile {
  name: string;
  bytes: number;
}

interface Copied {
  copyTo(folder: string): Promise<void>;
}

/** Folders that stores are copied to before they are sent begin like this. */
export const copyPrefix = 'spool-copy-';

/** The line behind the last file. */
export const copyEnd = '{}';

/**
 * The stores of this node for another one, also while this one serves: for each a line of JSON that describes it, and its bytes.
 * Each store is as it was at one moment, and says itself up to where it has applied the streams. The catalogue comes last: what
 * it knows more of than a volume, the volume gets from the stream.
 */
export async function* copyStores(
  catalogue: Copied,
  volumes: Iterable<{ slot: number; store: Copied }>,
  folder: string,
): AsyncIterable<Buffer> {
  const scratch = fs.mkdtempSync(path.join(folder, copyPrefix));
  try {
    for (const { slot, store } of volumes)
      yield* copyOf(store, `documents/${slot}`, path.join(scratch, String(slot)));
    yield* copyOf(catalogue, 'catalogue', path.join(scratch, 'catalogue'));
    yield Buffer.from(`${copyEnd}\n`);
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function* copyOf(store: Copied, name: string, folder: string): AsyncIterable<Buffer> {
  fs.mkdirSync(folder, { mode: 0o700 });
  await store.copyTo(folder);
  const file = path.join(folder, 'data.mdb');
  const { size } = fs.statSync(file);
  yield Buffer.from(`${JSON.stringify({ name, bytes: size } satisfies CopiedFile)}\n`);
  for await (const chunk of fs.createReadStream(file)) yield chunk as Buffer;
  fs.rmSync(folder, { recursive: true });
}
