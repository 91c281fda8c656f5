import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { committedPages, lastTransaction, LmdbDamage } from '../storage/lmdb-file.js';
import { LmdbStore } from '../storage/lmdb-store.js';
import { digestFile, sizeOf, transfer, withFiles } from './copy-files.js';
import { newDigest } from './digest.js';
import type { FileEntry } from './manifest.js';
import type { Progress } from './progress.js';

/** A store with more free space than this is compacted by its copy, which takes longer for what it copies. */
const freeShareMax = 0.5;

/** The store was not there: it may have been replaced by a copy of itself. */
export class StoreMissing extends StartupError {}

export interface StoreCopy extends FileEntry {
  /** A transaction that the copy has, and none after it unless others wrote meanwhile; undefined where it is not known. */
  transaction: number | undefined;
}

/**
 * Copies a store into a folder as it is at one moment, while others may write to it.
 *
 * A read transaction keeps LMDB from using pages again, so the file can be read from its beginning to its end like any
 * other, page after page, and goes into the digest on the way. `LmdbStore.copyTo` walks over the tree and leaves free pages
 * out, which is worth its time only where there are many of them.
 */
export async function copyStore(source: string, target: string, progress: Progress): Promise<StoreCopy> {
  const file = path.join(source, 'data.mdb');
  if (!fs.existsSync(file)) throw new StoreMissing(`The store ${source} is not there.`);
  const store = new LmdbStore(source);
  try {
    const { file_bytes, used_bytes } = store.size();
    const isMostlyFree = used_bytes < file_bytes * (1 - freeShareMax);
    return (
      (isMostlyFree ? undefined : await copyPages(store, file, path.join(target, 'data.mdb'), progress)) ??
      (await copyCompact(store, file, target))
    );
  } catch (error) {
    if (error instanceof LmdbDamage)
      throw new StartupError(`The file ${file} ${error.message}.`, { cause: error });
    throw fs.existsSync(file)
      ? error
      : new StoreMissing(`The store ${source} was removed.`, { cause: error });
  } finally {
    await store.close();
  }
}

/** Undefined where the layout of files is not known. */
async function copyPages(
  store: LmdbStore,
  source: string,
  target: string,
  progress: Progress,
): Promise<StoreCopy | undefined> {
  const digest = newDigest('gmac');
  let transaction: number | undefined;
  const held = store.snapshot();
  try {
    await withFiles(source, target, async (from, to) => {
      const pages = committedPages(from.fd);
      if (pages === undefined) return;
      const { head, endBytes } = pages;
      transaction = pages.transaction;
      await to.write(head, 0, head.length, 0);
      digest.update(head);
      const advance = (bytes: number): void => progress.advance(bytes);
      await transfer({ from, to, digest, advance, start: head.length, end: endBytes });
    });
  } finally {
    held.release();
  }
  if (transaction !== undefined) return { bytes: sizeOf(target), gmac: digest.hex(), transaction };
  fs.rmSync(target);
  return undefined;
}

async function copyCompact(store: LmdbStore, source: string, target: string): Promise<StoreCopy> {
  const transaction = lastTransaction(source);
  await store.copyTo(target);
  return { ...(await describeFile(path.join(target, 'data.mdb'))), transaction };
}

/** What a manifest says of a file. */
export async function describeFile(file: string): Promise<FileEntry> {
  fs.chmodSync(file, 0o600);
  return { bytes: sizeOf(file), gmac: await digestFile(file, 'gmac') };
}
