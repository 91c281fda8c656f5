import { backUp } from '../../operations/backup.js';
import { defaultDataDir } from '../command-options.js';
import { ProgressBar } from '../progress-bar.js';
import { formatBytes, readArguments, requiredOption, wrongUse } from './command-arguments.js';

const usage = `Usage: tuffet backup --to BACKUPS [--data DIR] [--db NAME] [--keep N] [--json]

Copies a data folder into a new folder in BACKUPS, named by the time. The server may be running. A backup holds
documents with their revisions, local documents, security objects, attachments and the configuration in the data folder;
indexes are built anew after a restore. What has not changed since the last backup in BACKUPS is linked to it.

  --data DIR    the data folder (default ./data, or TUFFET_DATA)
  --to BACKUPS  where backups are kept
  --db NAME     only this database, without the configuration
  --keep N      keep the newest N backups of this kind, and remove older ones when the new one is complete
  --json        print the result as JSON

Exit code: 0 when all is well, 1 when something could not be backed up.
`;

export async function backup(args: string[]): Promise<number> {
  const given = readArguments('backup', usage, args, {
    data: { type: 'string' },
    to: { type: 'string' },
    db: { type: 'string' },
    keep: { type: 'string' },
    json: { type: 'boolean' },
  });
  if (given === undefined) return 0;
  const { data, to, db, keep, json } = given.values;
  if (keep !== undefined && !/^[1-9]\d{0,5}$/.test(keep))
    throw wrongUse('backup', `--keep can't be "${keep}".`);
  const bar = new ProgressBar(process.stderr);
  const made = await backUp({
    dataDir: data ?? process.env['TUFFET_DATA'] ?? defaultDataDir,
    to: requiredOption('backup', 'to', to),
    ...(keep === undefined ? {} : { keep: Number(keep) }),
    ...(db === undefined ? {} : { database: db }),
    progress: bar,
  }).finally(() => bar.end());
  const { folder, manifest, sharedBytes, removed } = made;
  const bytes = Object.values(manifest.files).reduce(
    (all, file) => all + file.bytes,
    manifest.attachments.bytes,
  );
  const { problems } = manifest;
  process.stdout.write(
    json
      ? `${JSON.stringify({ ok: problems.length === 0, folder, bytes, shared_bytes: sharedBytes, removed, problems })}\n`
      : `${folder}: ${formatBytes(bytes)}, of which ${formatBytes(sharedBytes)} are shared with the backup before.\n`,
  );
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}
