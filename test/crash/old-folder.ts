import fs from 'node:fs';
import path from 'node:path';
import { asBytes } from '../../src/base/bytes.js';
import { LmdbStore } from '../../src/storage/lmdb-store.js';
import { keyBytesMax } from '../../src/storage/store.js';

const everything = { start: asBytes('\0\0\0'), end: asBytes('\xff'.repeat(keyBytesMax)) };

/** Takes the checksums from a folder, which the server does not use: it is as a server of format 3 would have left it. */
export async function asFormatThree(folder: string): Promise<void> {
  const identity = JSON.parse(fs.readFileSync(path.join(folder, 'tuffet.json'), 'utf8')) as object;
  fs.writeFileSync(path.join(folder, 'tuffet.json'), JSON.stringify({ ...identity, format: 3 }));
  for (const name of fs.readdirSync(folder, { recursive: true }) as string[])
    if (path.basename(name) === 'data.mdb') await withoutChecksums(path.join(folder, path.dirname(name)));
}

async function withoutChecksums(folder: string): Promise<void> {
  const store = new LmdbStore(folder);
  const entries = [...store.entries(everything)];
  await store.close();
  fs.rmSync(folder, { recursive: true });
  const plain = new LmdbStore(folder, undefined, undefined, { asStored: true });
  await plain.write(entries).flushed;
  await plain.close();
}
