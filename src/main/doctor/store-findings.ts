import fs from 'node:fs';
import path from 'node:path';
import { lmdbProblem } from '../../storage/lmdb-pages.js';
import { problem, type Finding } from './finding.js';

/** Looks at every page of the stores, which takes some seconds for a gigabyte. */
export function storeFindings(folder: string): Finding[] {
  return [
    ...findingsOf(path.join(folder, 'catalogue'), 'Restore the data folder from a backup.'),
    ...foldersIn(path.join(folder, 'documents')).flatMap((name) =>
      findingsOf(name, 'Restore the data folder from a backup.'),
    ),
    ...foldersIn(path.join(folder, 'indexes')).flatMap((name) =>
      findingsOf(name, 'Remove the folder of indexes: they are built anew.'),
    ),
  ];
}

function findingsOf(store: string, advice: string): Finding[] {
  if (!fs.existsSync(store)) return [];
  const file = path.join(store, 'data.mdb');
  const wrong = lmdbProblem(file);
  return wrong === undefined ? [] : [problem(file, `The file ${wrong}.`, advice)];
}

/** Those with numbers: others are not in use. */
function foldersIn(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => /^\d+(?:\.\d+)?$/.test(name))
    .map((name) => path.join(folder, name));
}
