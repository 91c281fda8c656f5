import fs from 'node:fs';
import path from 'node:path';
import { inspectFolder } from '../../node/data-folder.js';
import { note, problem, type Finding } from './finding.js';
import { storeFindings } from './store-findings.js';

const gigabyte = 1024 ** 3;
/** Less free space than this, or than this part of the disk, is too little. */
const freeBytesMin = gigabyte;
const freePartMin = 0.05;

/** Looks at the data folder from outside: nothing in it is opened or changed, so a server may be using it. */
export function folderFindings(folder: string): Finding[] {
  if (!fs.existsSync(folder)) {
    return [
      note(
        folder,
        'The data folder does not exist.',
        'The first start makes it; or name another with --data.',
      ),
    ];
  }
  if (!fs.statSync(folder).isDirectory()) {
    return [problem(folder, 'The data folder is a file.', 'Name another with --data.')];
  }
  const rights = rightFindings(folder);
  if (rights.some(({ level, about }) => level === 'problem' && about === folder && !canRead(folder)))
    return rights;
  return [...rights, ...spaceFindings(folder), ...stateFindings(folder), ...leftoverFindings(folder)];
}

const canRead = (folder: string): boolean => {
  try {
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

function rightFindings(folder: string): Finding[] {
  const { mode, uid } = fs.statSync(folder);
  const findings: Finding[] = [];
  try {
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  } catch {
    findings.push(
      problem(
        folder,
        'This user may not read and write the data folder.',
        'Run the server as its owner, or give it to this user with chown.',
      ),
    );
  }
  if ((mode & 0o077) !== 0) {
    findings.push(
      problem(folder, 'Others than its owner may look into the data folder.', `chmod 700 ${folder}`),
    );
  }
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) {
    findings.push(
      note(
        folder,
        `The data folder belongs to user ${uid}, and you are ${me}.`,
        'Run the server as its owner.',
      ),
    );
  }
  return findings;
}

/** Files with passwords' hashes or secrets in them are for the server's own user. */
export function secretFileFindings(files: readonly { file: string; secret: boolean }[]): Finding[] {
  return files.flatMap(({ file, secret }) =>
    secret && (fs.statSync(file).mode & 0o077) !== 0
      ? [
          problem(
            file,
            'Others than its owner may read the file, which holds passwords or secrets.',
            `chmod 600 ${file}`,
          ),
        ]
      : [],
  );
}

function spaceFindings(folder: string): Finding[] {
  const { bavail, blocks, bsize } = fs.statfsSync(folder);
  const free = bavail * bsize;
  if (free >= freeBytesMin && bavail >= blocks * freePartMin) return [];
  const amount =
    free < gigabyte ? `${Math.floor(free / 1024 ** 2)} MB` : `${(free / gigabyte).toFixed(1)} GB`;
  return [
    problem(
      folder,
      `The disk has ${amount} left, ${Math.floor((100 * bavail) / blocks)} % of it.`,
      'Make room: compaction needs space for a second copy of a volume, up to some gigabytes.',
    ),
  ];
}

function stateFindings(folder: string): Finding[] {
  const { problem: wrong, holder, staleLock, isCouchdb } = inspectFolder(folder);
  const findings: Finding[] = [];
  if (wrong !== undefined)
    findings.push(problem(folder, wrong, 'Use the version of the server that wrote it, or a backup.'));
  if (holder !== undefined) {
    findings.push(
      note(
        path.join(folder, 'lock'),
        `A server is using the folder: process ${holder}. Its stores are not looked into meanwhile.`,
        'To have them checked, restore a backup and run tuffet check on that.',
      ),
    );
  } else {
    // Pages are only as they should be while nothing is written.
    findings.push(...storeFindings(folder));
  }
  if (staleLock) {
    findings.push(
      note(
        path.join(folder, 'lock'),
        'The server that last used the folder did not end in order.',
        'Nothing: the next start clears the lock, and no answered write is lost.',
      ),
    );
  }
  if (isCouchdb) {
    findings.push(
      problem(
        folder,
        'The folder holds CouchDB’s own files, which this server does not read.',
        'Name another folder with --data, and replicate from CouchDB.',
      ),
    );
  }
  return findings;
}

/** What belongs there, by docs/formats/data-folder.md. */
const known =
  /^(?:tuffet\.json|lock|catalogue|documents|attachments|indexes|workers|incoming(?:\.complete)?|before-cluster-.+|(?:default|local)\.(?:ini|d)|config-api\.ini|tuffet\.log)$/;
const leftover = /^(?:tuffet\.json\.new|lock\.clearing|spool-(?:[0-9a-f]+|copy-\w+)|\..+\.[0-9a-f]{12})$/;

function leftoverFindings(folder: string): Finding[] {
  return fs.readdirSync(folder).flatMap((name) => {
    const file = path.join(folder, name);
    if (known.test(name)) return [];
    if (leftover.test(name)) {
      return [
        note(
          file,
          'Something that a server which was ended in the middle of something left behind.',
          `Remove it while no server runs: rm -r ${file}`,
        ),
      ];
    }
    return [note(file, 'Nothing that the server knows.', 'Nothing, if it is yours.')];
  });
}
