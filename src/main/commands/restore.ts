import fs from 'node:fs';
import { StartupError } from '../../base/startup-error.js';
import { inspectFolder } from '../../node/data-folder.js';
import { RemoteServer } from '../../operations/remote/remote-server.js';
import { restoreDatabase } from '../../operations/restore-database.js';
import { restoreToServer } from '../../operations/restore-to-server.js';
import { restore as restoreBackup } from '../../operations/restore.js';
import { ProgressBar } from '../progress-bar.js';
import { readArguments, requiredOption, wrongUse } from './command-arguments.js';

const usage = `Usage: tuffet restore --from BACKUP --data DIR
       tuffet restore --from BACKUP --data DIR --db NAME [--as NAME]
       tuffet restore --from BACKUP --to URL --db NAME [--as NAME]
       tuffet restore --from BACKUP --verify

Makes the data folder DIR, which must not exist or be empty, of a backup. BACKUP is one backup, or a folder of them, of
which the newest is taken. Every file is compared with its checksum; DIR appears when all of them are right.

  --db NAME     copy only this database, from a backup of all or of this one, into the data folder DIR, which is made
                unless it is there; no server may be using it
  --to URL      copy the database to the running server at http://NAME:PASSWORD@127.0.0.1:5984, which needs a server admin
                and must not have a database of that name
  --as NAME     the name that the database gets there, unless its own
  --verify      only read the backup and compare it with its checksums
`;

export async function restore(args: string[]): Promise<number> {
  const given = readArguments('restore', usage, args, {
    from: { type: 'string' },
    data: { type: 'string' },
    to: { type: 'string' },
    db: { type: 'string' },
    as: { type: 'string' },
    verify: { type: 'boolean' },
  });
  if (given === undefined) return 0;
  const { from, data, to, db, as, verify } = given.values;
  if (verify && db !== undefined) throw wrongUse('restore', '--verify is for whole backups.');
  if (as !== undefined && db === undefined) throw wrongUse('restore', '--as needs --db.');
  if (to !== undefined) {
    if (db === undefined || data !== undefined || verify)
      throw wrongUse('restore', '--to needs --db, and neither --data nor --verify.');
    return await restoreTo(to, requiredOption('restore', 'from', from), db, as ?? db);
  }
  if (db !== undefined)
    return await restoreOne(
      requiredOption('restore', 'from', from),
      requiredOption('restore', 'data', data),
      db,
      as ?? db,
    );
  const bar = new ProgressBar(process.stderr);
  const { backup, manifest } = await restoreBackup({
    from: requiredOption('restore', 'from', from),
    ...(verify ? {} : { dataDir: requiredOption('restore', 'data', data) }),
    progress: bar,
  }).finally(() => bar.end());
  const done = verify ? 'is sound' : `is restored to ${data}`;
  process.stdout.write(`The backup ${backup}, made at ${manifest.made_at}, ${done}.\n`);
  for (const problem of manifest.problems) process.stderr.write(`When it was made: ${problem}\n`);
  return 0;
}

async function restoreOne(from: string, dataDir: string, database: string, as: string): Promise<number> {
  requireUnused(dataDir);
  const bar = new ProgressBar(process.stderr);
  const { backup, manifest, problems } = await restoreDatabase({
    from,
    dataDir,
    database,
    as,
    progress: bar,
  }).finally(() => bar.end());
  process.stdout.write(
    `The database ${database} of the backup ${backup}, made at ${manifest.made_at}, is restored to ${dataDir} as ${as}.\n`,
  );
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

function requireUnused(folder: string): void {
  const { holder } = fs.existsSync(folder) ? inspectFolder(folder) : {};
  if (holder !== undefined)
    throw new StartupError(
      `The data folder ${folder} is in use by another server (process ${holder}). To restore to a running server, use --to URL.`,
    );
}

async function restoreTo(url: string, from: string, database: string, as: string): Promise<number> {
  const bar = new ProgressBar(process.stderr);
  const to = new RemoteServer(url);
  const { backup, manifest, report } = await restoreToServer({
    from,
    to,
    database,
    as,
    progress: bar,
  }).finally(() => bar.end());
  const { documents, deleted, verified, remarks } = report;
  process.stdout.write(
    `The database ${database} of the backup ${backup}, made at ${manifest.made_at}, is restored to ${to.url} as ${as}: ` +
      `${documents} documents, ${deleted} deleted, ${verified ? 'verified' : 'which DIFFERS from the backup'}.\n`,
  );
  for (const remark of remarks) process.stderr.write(`${remark}\n`);
  return verified ? 0 : 1;
}
