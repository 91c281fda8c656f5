import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { StartupError } from '../base/startup-error.js';
import { isPlainDatabaseName } from '../http/request/make-database.js';
import { createServer, type TuffetServer } from '../server/create-server.js';
import type { Manifest } from './manifest.js';
import type { Progress } from './progress.js';
import { copyDatabase, createTarget, type DatabaseReport } from './remote/migrate.js';
import { pathOf, RemoteServer } from './remote/remote-server.js';
import { restoreDatabase } from './restore-database.js';

export interface RestoreToServerOptions {
  /** A backup, or a folder of them, of which the newest of this database or of all is taken. */
  from: string;
  to: RemoteServer;
  database: string;
  /** The name that it gets. */
  as: string;
  progress: Progress;
}

export interface RestoredToServer {
  backup: string;
  manifest: Manifest;
  report: DatabaseReport;
}

const adminName = 'restore';
/** The documents are to arrive as they are in the backup: nothing is removed by its age, or compacted, on the way. */
const withoutUpkeep = {
  auto_compaction: 'false',
  auto_purge_interval_seconds: '86400',
  expiry_interval_seconds: '86400',
};

/**
 * Copies one database of a backup to a running server. It is restored to a temporary data folder first; a server on that
 * folder, for this machine only and with a random password, sends it on by replication, and both sides are compared.
 */
export async function restoreToServer(options: RestoreToServerOptions): Promise<RestoredToServer> {
  const { from, to, database, as, progress } = options;
  checkName(as);
  if ((await to.find(pathOf(as))) !== undefined)
    throw new StartupError(`${to.url} has a database ${as} already. Choose another name with --as.`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-restore-'));
  try {
    const dataDir = path.join(folder, 'data');
    const restored = await restoreDatabase({ from, dataDir, database, as, progress });
    if (restored.problems.length > 0)
      throw new StartupError(
        `The backup is not whole, so nothing was sent. Restore it to a data folder with --data to see what there is.\n` +
          restored.problems.join('\n'),
      );
    const password = randomBytes(24).toString('hex');
    const server = await serve(dataDir, password);
    try {
      const source = new RemoteServer(server.url.replace('//', `//${adminName}:${password}@`));
      await createTarget(as, source, to);
      const { backup, manifest } = restored;
      return { backup, manifest, report: await copyOrRemove(as, source, to, progress) };
    } finally {
      await server.close();
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Half a database must not be taken for the whole. */
async function copyOrRemove(
  name: string,
  source: RemoteServer,
  to: RemoteServer,
  progress: Progress,
): Promise<DatabaseReport> {
  try {
    return await copyDatabase(name, { from: source, to, progress }, source);
  } catch (error) {
    await to.send('DELETE', pathOf(name), undefined, [404]).catch((refusal: Error) => {
      const both = `${(error as Error).message}\nThe unfinished database ${name} remains: ${refusal.message}`;
      throw new StartupError(both, { cause: error });
    });
    throw error;
  }
}

/** Replications would begin as soon as their documents are there, on both servers. */
function checkName(name: string): void {
  if (!isPlainDatabaseName(name)) throw new StartupError(`"${name}" can't be the name of a database.`);
  if (name.endsWith('/_replicator'))
    throw new StartupError('Replications of a backup would start at once. Choose another name with --as.');
}

const serve = (dataDir: string, password: string): Promise<TuffetServer> =>
  createServer({
    dataDir,
    bind: '127.0.0.1',
    port: 0,
    admins: { [adminName]: password },
    config: { tuffet: withoutUpkeep },
    logLevel: 'error',
  });
