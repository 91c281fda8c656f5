import { restore as restoreBackup } from '../../operations/restore.js';
import { ProgressBar } from '../progress-bar.js';
import { readArguments, requiredOption } from './command-arguments.js';

const usage = `Usage: tuffet restore --from BACKUP --data DIR
       tuffet restore --from BACKUP --verify

Makes the data folder DIR, which must not exist or be empty, of a backup. BACKUP is one backup, or a folder of them, of
which the newest is taken. Every file is compared with its checksum; DIR appears when all of them are right.

  --verify      only read the backup and compare it with its checksums
`;

export async function restore(args: string[]): Promise<number> {
  const given = readArguments('restore', usage, args, {
    from: { type: 'string' },
    data: { type: 'string' },
    verify: { type: 'boolean' },
  });
  if (given === undefined) return 0;
  const { from, data, verify } = given.values;
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
