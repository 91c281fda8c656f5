import {
  migrate as migrateServer,
  type DatabaseReport,
  type MigrateReport,
} from '../../operations/remote/migrate.js';
import { RemoteServer } from '../../operations/remote/remote-server.js';
import { ProgressBar } from '../progress-bar.js';
import { readArguments, requiredOption } from './command-arguments.js';

const usage = `Usage: tuffet migrate --from URL [--to URL] [--db NAME]... [--skip NAME]... [--no-config]
                      [--start-replications] [--json]

Copies the databases of a running CouchDB or Tuffet to a running Tuffet: documents with revisions, conflicts, deletions and
attachments, local documents but checkpoints of replications, security objects, limits, users with their passwords; and the
server admins and options that clients notice. Both addresses need a server admin, and the
server at --to must reach the one at --from. Called again, it goes on where it was and copies what has changed.

  --from URL     http://NAME:PASSWORD@couch:5984
  --to URL       http://NAME:PASSWORD@127.0.0.1:5984, or what TUFFET_URL says
  --db NAME      only this database; may be given several times
  --skip NAME    not this database; may be given several times
  --no-config    leave server admins and options as they are
  --start-replications
                 copy the documents of _replicator too: their replications begin on the new server at once. Stop the old
                 server's first, or both servers run them
  --json         print the report as JSON

Exit code: 0 when every database was verified to be the same on both sides, 1 otherwise.
`;

export async function migrate(args: string[]): Promise<number> {
  const given = readArguments('migrate', usage, args, {
    from: { type: 'string' },
    to: { type: 'string' },
    db: { type: 'string', multiple: true },
    skip: { type: 'string', multiple: true },
    'no-config': { type: 'boolean' },
    'start-replications': { type: 'boolean' },
    json: { type: 'boolean' },
  });
  if (given === undefined) return 0;
  const { from, to, db = [], skip = [], json } = given.values;
  const bar = new ProgressBar(process.stderr);
  const report = await migrateServer({
    from: new RemoteServer(requiredOption('migrate', 'from', from)),
    to: new RemoteServer(requiredOption('migrate', 'to', to ?? process.env['TUFFET_URL'])),
    only: db,
    skip,
    config: !given.values['no-config'],
    startReplications: given.values['start-replications'] === true,
    progress: bar,
  }).finally(() => bar.end());
  const ok = report.databases.every(({ verified }) => verified);
  if (json) process.stdout.write(`${JSON.stringify({ ok, ...report }, null, 2)}\n`);
  else {
    process.stdout.write(report.databases.map(line).join(''));
    if (report.config.taken.length > 0)
      process.stdout.write(`Options set: ${report.config.taken.join(', ')}\n`);
    process.stdout.write(pausedLines(report));
    for (const left of report.config.left) process.stdout.write(`Option not set: ${left}\n`);
    process.stdout.write(
      ok ? 'All databases are the same on both sides.\n' : 'Not all databases are the same on both sides.\n',
    );
  }
  return ok ? 0 : 1;
}

function pausedLines({ paused_replications: paused }: MigrateReport): string {
  if (paused.length === 0) return '';
  const lines = paused.map(({ name, documents }) => `not copied  ${name}: ${documents} replications\n`);
  return `${lines.join('')}To start these replications here, stop them on the old server, and run the command again with --start-replications.\n`;
}

function line({ name, documents, deleted, local_documents, verified, remarks }: DatabaseReport): string {
  const counts = `${documents} documents, ${deleted} deleted, ${local_documents} local`;
  const more = remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
  return `${verified ? 'verified' : 'DIFFERS '}  ${name}: ${counts}${more}\n`;
}
