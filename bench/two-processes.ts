import type { BenchContext } from './context.js';
import { bulkBodies } from './documents.js';
import { postAll } from './load/http-client.js';
import { ServerProcess } from './processes.js';

/** A server of two processes with a data folder of that name, which has the same documents as the one of all figures. */
export async function startTwoProcesses(
  { documents, database, folder, options }: BenchContext,
  data: string,
): Promise<ServerProcess> {
  const server = await ServerProcess.start(folder, options.logLevel, { data, args: ['--workers', '2'] });
  await server.createDatabase(database);
  await postAll(`${server.url}/${database}/_bulk_docs`, bulkBodies(documents));
  return server;
}
