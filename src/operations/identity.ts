import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';

export interface FolderIdentity {
  format: number;
  uuid: string;
}

/** What `tuffet.json` says. Refuses where records of the stores are being given checksums. */
export function readIdentity(folder: string): FolderIdentity {
  const text = fs.readFileSync(path.join(folder, 'tuffet.json'), 'utf8');
  const identity = JSON.parse(text) as FolderIdentity & { adding_checksums?: boolean };
  if (identity.adding_checksums) throw upgrading(folder);
  return identity;
}

export const upgrading = (folder: string): StartupError =>
  new StartupError(`The data folder ${folder} is being upgraded. Try again when its server has started.`);
