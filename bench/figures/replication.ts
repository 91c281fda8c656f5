import { bulkBodies } from '../documents.js';
import { postAll } from '../load/http-client.js';
import { jsonHeaders, type BenchServer } from '../processes.js';
import type { BenchContext } from '../context.js';
import type { Figure, Sample } from './figure.js';

let databases = 0;

/** Here the floor is the server itself, taking the same documents by bulk requests. */
async function insert(server: BenchServer, bodies: readonly Buffer[], docs: number): Promise<Sample> {
  const name = `replication-floor-${++databases}`;
  await server.createDatabase(name);
  const started = performance.now();
  await postAll(`${server.url}/${name}/_bulk_docs`, bodies);
  return { units: docs, seconds: (performance.now() - started) / 1000 };
}

async function replicate(server: BenchServer, source: string, target: string, docs: number): Promise<Sample> {
  const started = performance.now();
  const answer = await fetch(`${server.url}/_replicate`, {
    method: 'POST',
    headers: jsonHeaders(server),
    body: JSON.stringify({ source, target, create_target: true }),
  });
  const { history } = (await answer.json()) as { history?: { docs_written: number }[] };
  const seconds = (performance.now() - started) / 1000;
  // Other figures may have added some.
  const written = history?.[0]?.docs_written ?? 0;
  if (written < docs) throw new Error('Documents are missing.');
  return { units: written, seconds };
}

const figure = (
  name: string,
  title: string,
  bar: number,
  ends: (context: BenchContext, target: string) => [string, string],
): Figure => ({
  name,
  title,
  unit: 'documents/s',
  floorTitle: '_bulk_docs of 1,000',
  bar,
  floorLeast: 10_000,
  prepare: (context) => {
    const { documents, server } = context;
    const bodies = bulkBodies(documents);
    return Promise.resolve({
      floor: () => insert(server, bodies, documents.length),
      server: () => {
        const [source, target] = ends(context, `replication-${++databases}`);
        return replicate(server, source, target, documents.length);
      },
      floorPid: server.pid,
      close: () => Promise.resolve(),
    });
  },
});

/** Between two databases of one server. */
export const replicateLocally = figure(
  'replicate',
  'replicate within the server',
  0.4,
  ({ database }, target) => [database, target],
);

/** The same through HTTP: client and server are one process. */
export const replicateByHttp = figure(
  'replicate-http',
  'replicate over loopback HTTP',
  0.6,
  ({ server, database }, target) => {
    const url = server.url.replace('://', '://admin:bench@');
    return [`${url}/${database}`, `${url}/${target}`];
  },
);
