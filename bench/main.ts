import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.js';
import { bulkBodies, makeDocuments } from './documents.js';
import { downloadAttachment, uploadAttachment } from './figures/attachments.js';
import { getWhileBuilding, putWhileBuilding } from './figures/building.js';
import { bulkInsert, bulkInsertLarge } from './figures/bulk-insert.js';
import { clusterFigures } from './figures/cluster.js';
import { changes, continuousChanges } from './figures/changes.js';
import type { Figure } from './figures/figure.js';
import { listAll } from './figures/list-all.js';
import { mixedReads, mixedWrites } from './figures/mixed.js';
import { putAlone, putDocument } from './figures/put-document.js';
import { findBuild, findIndexed, findOr, findScan } from './figures/queries.js';
import { getDocument, getFromTwo, listPage } from './figures/random-reads.js';
import { replicateByHttp, replicateLocally } from './figures/replication.js';
import { searchAnd, searchBuild, searchOr } from './figures/search.js';
import { viewBuild, viewFresh, viewGroup, viewKey, viewReduce } from './figures/views.js';
import { postAll } from './load/http-client.js';
import { ensureWrk } from './load/wrk.js';
import { compare, measure, type Result } from './measure.js';
import { parseOptions, usage, type BenchOptions } from './options.js';
import { ServerProcess } from './processes.js';
import { residentMegabytes } from './processor-time.js';
import { Profiles, profilingOptions } from './profile.js';
import { ReferenceServer } from './reference-server.js';
import { report } from './report.js';

/**
 * Measures the server against floors taken in the same run: the rate alone says as much about the machine as about
 * the server, their ratio says how much of what is possible the server reaches.
 */
const figures: Figure[] = [
  getDocument,
  getFromTwo,
  listPage,
  listAll,
  changes,
  continuousChanges,
  bulkInsert,
  putDocument,
  putAlone,
  uploadAttachment,
  downloadAttachment,
  viewBuild,
  viewReduce,
  viewGroup,
  viewKey,
  viewFresh,
  getWhileBuilding,
  putWhileBuilding,
  findScan,
  findIndexed,
  findOr,
  findBuild,
  searchOr,
  searchAnd,
  searchBuild,
  replicateLocally,
  replicateByHttp,
];
/** Measured only when they are named: they take long, and would change the others and the memory, or need NATS servers. */
const namedFigures: Figure[] = [bulkInsertLarge, mixedReads, mixedWrites, ...clusterFigures];
const database = 'bench';
/** Stands for all figures of a cluster. */
const clusterName = 'cluster';

async function main(): Promise<void> {
  const options = parseOptions(
    process.argv.slice(2),
    [...figures, ...namedFigures, { name: clusterName }].map(({ name }) => name),
  );
  if (options === undefined) {
    const line = ({ name, title }: { name: string; title: string }): string =>
      `  ${name.padEnd(16)} ${title}\n`;
    const further = [...namedFigures, { name: clusterName, title: 'all of a cluster' }];
    process.stdout.write(
      `${usage}\nFigures:\n${figures.map(line).join('')}\nOnly when they are named:\n${further.map(line).join('')}`,
    );
    return;
  }
  ensureWrk();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tuffet-bench-'));
  try {
    await run(options, folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function run(options: BenchOptions, folder: string): Promise<void> {
  const reference = options.reference === undefined ? undefined : new ReferenceServer(options.reference);
  try {
    await runWith(reference, options, folder);
  } finally {
    await reference?.deleteDatabases();
  }
}

async function runWith(
  reference: ReferenceServer | undefined,
  options: BenchOptions,
  folder: string,
): Promise<void> {
  const profiles = path.join(folder, 'profiles');
  const profiling = options.profile ? { nodeOptions: profilingOptions(profiles) } : {};
  const server = await ServerProcess.start(folder, options.logLevel, profiling);
  const documents = makeDocuments(options.docs);
  for (const each of reference === undefined ? [server] : [server, reference]) {
    await each.createDatabase(database);
    await postAll(`${each.url}/${database}/_bulk_docs`, bulkBodies(documents));
  }
  const context: BenchContext = { options, server, documents, database, folder };
  const results: Result[] = [];
  for (const figure of chosen(options)) {
    console.error(`${figure.title}…`);
    try {
      results.push(
        await (reference === undefined ? measure(figure, context) : compare(figure, context, reference)),
      );
    } catch (error) {
      // The others tell what they tell all the same.
      console.error(`${figure.name}: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
  await sleep(options.rest * 1_000);
  const memory = residentMegabytes(server.pid);
  await server.stop();
  process.stdout.write(`${report(results, options, memory, await reference?.version())}\n`);
  if (options.profile) {
    const ofThreads = new Profiles(profiles);
    for (const { name, spans } of results) process.stdout.write(`\n${name}: ${ofThreads.describe(spans)}\n`);
  }
  if (options.json !== undefined) {
    fs.writeFileSync(options.json, `${JSON.stringify({ options, results }, null, 2)}\n`);
  }
}

function chosen({ names, reference }: BenchOptions): Figure[] {
  const those = named(names);
  return reference === undefined ? those : those.filter(({ isComparable }) => isComparable);
}

function named(names: readonly string[]): Figure[] {
  if (names.length === 0) return figures;
  const all = names.includes(clusterName) ? [...names, ...clusterFigures.map(({ name }) => name)] : names;
  return [...figures, ...namedFigures].filter(({ name }) => all.includes(name));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
