import fs from 'node:fs';
import path from 'node:path';
import type { LmdbStore } from '../storage/lmdb-store.js';
import { syncFolder } from '../storage/sync-folder.js';

const namePattern = /^(?:(\d+)\.)?(\d+)(\.copy)?$/;

interface Named {
  name: string;
  slot: number;
  number: number;
  isCopy: boolean;
}

/** The folder of the first slot is named by its number alone. */
const nameOf = (slot: number, number: number): string => (slot === 0 ? String(number) : `${slot}.${number}`);

/** What is in the folder of all indexes, as far as it belongs to a slot. */
function namesIn(root: string): Named[] {
  const names = fs.existsSync(root) ? fs.readdirSync(root) : [];
  return names.flatMap((name) => {
    const found = namePattern.exec(name);
    if (found === null) return [];
    const [, slot = '0', number, copy] = found;
    return { name, slot: Number(slot), number: Number(number), isCopy: copy !== undefined };
  });
}

/** How many slots have been used: one more than the number of the last. */
export const slotsIn = (root: string): number => Math.max(0, ...namesIn(root).map(({ slot }) => slot + 1));

export const hasFolder = (root: string, slot: number): boolean =>
  namesIn(root).some((named) => named.slot === slot && !named.isCopy);

/** Of the folders of a slot the one with the highest number counts; others were left by a copy that was broken off. */
export function currentFolder(root: string, slot = 0): string {
  fs.mkdirSync(root, { recursive: true });
  const names = namesIn(root).filter((named) => named.slot === slot);
  const number = Math.max(1, ...names.filter(({ isCopy }) => !isCopy).map((named) => named.number));
  const current = nameOf(slot, number);
  for (const { name } of names)
    if (name !== current) fs.rmSync(path.join(root, name), { recursive: true, force: true });
  return path.join(root, current);
}

/** Writes a compact copy of a store beside its folder, under the next number. Gives the folder of the copy. */
export async function copyToNext(store: LmdbStore, folder: string): Promise<string> {
  const next = folder.replace(/\d+$/, (number) => String(Number(number) + 1));
  const copy = `${next}.copy`;
  await fs.promises.rm(copy, { recursive: true, force: true });
  try {
    await fs.promises.mkdir(copy, { recursive: true });
    await store.copyTo(copy);
    await syncFolder(copy);
    await fs.promises.rename(copy, next);
  } catch (error) {
    // A full disk is the likeliest reason: what was copied must not go on taking room.
    await fs.promises.rm(copy, { recursive: true, force: true });
    throw error;
  }
  return next;
}
