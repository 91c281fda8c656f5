import fs from 'node:fs';
import path from 'node:path';
import { BenchCluster } from '../cluster/bench-cluster.js';
import type { BenchContext } from '../context.js';
import { bulkBodies } from '../documents.js';
import { postAll } from '../load/http-client.js';
import { wrk, writeScripts } from '../load/wrk.js';
import type { Figure, Sample, Samples } from './figure.js';

/** Documents that a node catches up with. */
const missedDocs = 20_000;
let databases = 0;

const ofCluster = { floorTitle: 'one server', floorLeast: 0 };

/** A node of a cluster against one server, both on this machine with all that belongs to the cluster. */
export const clusterFigures: readonly Figure[] = [
  {
    ...ofCluster,
    name: 'cluster-get',
    title: 'GET a document from a node, 32 connections',
    unit: 'requests/s',
    bar: 0.8,
    prepare: reads,
  },
  {
    ...ofCluster,
    name: 'cluster-lone-put',
    title: 'durable PUT to a node, one connection',
    unit: 'requests/s',
    bar: 1,
    slowerMsMax: 3,
    prepare: (context) => writes(context, 1),
  },
  {
    ...ofCluster,
    name: 'cluster-put',
    title: 'durable PUT to a node, 32 connections',
    unit: 'requests/s',
    bar: 0.15,
    prepare: (context) => writes(context, 32),
  },
  {
    ...ofCluster,
    name: 'cluster-return',
    title: 'what a node missed, applied when it returns',
    unit: 'documents/s',
    floorTitle: '_bulk_docs of 1,000 to one server',
    bar: 0.5,
    prepare: returning,
  },
];

async function reads({ documents, database, folder, server, options }: BenchContext): Promise<Samples> {
  const cluster = await BenchCluster.start();
  await cluster.createDatabase(database);
  const [node] = cluster.nodes;
  await postAll(`${node.client.url}/${database}/_bulk_docs`, bulkBodies(documents));
  const paths = path.join(folder, 'paths.txt');
  fs.writeFileSync(paths, documents.map(({ id }) => `/${database}/${id}\n`).join(''));
  const script = writeScripts(folder).randomPaths;
  let seed = 0;
  const sample = (url: string): Promise<Sample> =>
    wrk({ url, script, args: [paths, String(++seed)], seconds: options.seconds });
  return compared(server, cluster, sample);
}

/** The same load on one server, which is the floor, and on a node. */
function compared(
  server: BenchContext['server'],
  cluster: BenchCluster,
  sample: (url: string) => Promise<Sample>,
): Samples {
  const [node] = cluster.nodes;
  return {
    floor: () => sample(server.url),
    server: () => sample(node.client.url),
    floorPid: server.pid,
    serverPid: node.process.pid!,
    close: () => cluster.close(),
  };
}

async function writes(context: BenchContext, connections: number): Promise<Samples> {
  const { documents, folder, server, options } = context;
  const cluster = await BenchCluster.start();
  const database = `cluster-puts-${connections}`;
  await Promise.all([server.createDatabase(database), cluster.createDatabase(database)]);
  const bodies = path.join(folder, 'bodies.txt');
  const lines = documents.slice(0, 1_000).map(({ body }) => `${body}\n`);
  fs.writeFileSync(bodies, lines.join(''));
  const script = writeScripts(folder).newDocuments;
  let samples = 0;
  const sample = (url: string): Promise<Sample> => {
    const args = [`/${database}/`, (++samples).toString(16).padStart(20, '0'), bodies];
    return wrk({ url, script, args, seconds: options.seconds, connections });
  };
  return compared(server, cluster, sample);
}

/** A node listens when it has caught up. What a start takes without anything to catch up is not counted. */
async function returning({ documents, server }: BenchContext): Promise<Samples> {
  const cluster = await BenchCluster.start();
  const [node, , other] = cluster.nodes;
  const missed = documents.slice(0, missedDocs);
  const bodies = bulkBodies(missed);
  const timed = async (work: () => Promise<void>): Promise<number> => {
    const startedMs = performance.now();
    await work();
    return (performance.now() - startedMs) / 1_000;
  };
  return {
    floor: async () => {
      const name = `inserted-${++databases}`;
      await server.createDatabase(name);
      const seconds = await timed(() => postAll(`${server.url}/${name}/_bulk_docs`, bodies));
      return { units: missed.length, seconds };
    },
    server: async () => {
      const name = `missed-${++databases}`;
      await cluster.createDatabase(name);
      await other.end('SIGTERM');
      const idle = await timed(() => other.run());
      await other.end('SIGTERM');
      await postAll(`${node.client.url}/${name}/_bulk_docs`, bodies);
      let found = 0;
      const seconds = await timed(async () => {
        await other.run();
        found = (await other.client.get(`/${name}`, { 'x-tuffet-reads': 'fresh' })).body.doc_count;
      });
      if (found !== missed.length) throw new Error(`${found} of ${missed.length} documents are there.`);
      return { units: missed.length, seconds: seconds - idle };
    },
    floorPid: server.pid,
    serverPid: process.pid,
    close: () => cluster.close(),
  };
}
