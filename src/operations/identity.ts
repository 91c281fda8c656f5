import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';

type Origin = Pick<FolderIdentity, 'uuid' | 'history'>;

export interface FolderIdentity {
  format: number;
  uuid: string;
  /** Changed by each restore; absent in a folder that was never restored. */
  history?: string;
}

/** What `tuffet.json` says. Refuses where records of the stores are being given checksums. */
export function readIdentity(folder: string): FolderIdentity {
  const text = fs.readFileSync(path.join(folder, 'tuffet.json'), 'utf8');
  const identity = JSON.parse(text) as FolderIdentity & { adding_checksums?: boolean };
  if (identity.adding_checksums) throw upgrading(folder);
  return identity;
}

/**
 * Gives a restored folder an id of its own for what is written from now on: its stores count transactions from those of
 * the backup on, and the same numbers may stand for what was written before it was restored.
 */
export function beginHistory(folder: string): void {
  const file = path.join(folder, 'tuffet.json');
  const identity = JSON.parse(fs.readFileSync(file, 'utf8')) as FolderIdentity;
  const changed = { ...identity, history: randomBytes(16).toString('hex') };
  fs.writeFileSync(file, `${JSON.stringify(changed)}\n`, { flush: true });
}

export const isSameHistory = (one: Origin, other: Origin): boolean =>
  one.uuid === other.uuid && (one.history ?? '') === (other.history ?? '');

export const upgrading = (folder: string): StartupError =>
  new StartupError(`The data folder ${folder} is being upgraded. Try again when its server has started.`);
