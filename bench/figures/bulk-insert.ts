import path from 'node:path';
import type { BenchContext } from '../context.js';
import { bulkBodies, type BenchDocument } from '../documents.js';
import { postAll } from '../load/http-client.js';
import { FloorProcess } from '../processes.js';
import type { Figure, Sample } from './figure.js';

let databases = 0;

/** Every sample fills a new database, and the floor a new store. The client is this process, with bodies made before. */
export const bulkInsert: Figure = {
  name: 'bulk',
  title: '_bulk_docs of 1,000, one connection',
  unit: 'documents/s',
  floorTitle: 'parse, hash, two puts, one commit a batch',
  bar: 0.5,
  isComparable: true,
  floorLeast: 60_000,
  prepare: async ({ documents, server, folder }) => {
    const bodies = bulkBodies(documents);
    const settings = { folder: path.join(folder, 'store-loop'), docs: documents.length };
    const floor = await FloorProcess.start('store-loop', settings);
    return {
      floor: () => floor.ask<Sample>('run'),
      server: () => fillNew(server, bodies, documents.length),
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};

/** Documents that a database has before the first of the samples that add to it. */
const largeDocs = 500_000;

/** Ascending ids, as the server makes them: only the last pages of the tables are written to. */
export const bulkInsertLarge: Figure = {
  name: 'bulk-large',
  title: `_bulk_docs of 1,000 into a database that has ${largeDocs.toLocaleString('en-US')} documents`,
  unit: 'documents/s',
  floorTitle: 'the same into one that has none',
  bar: 0.9,
  floorLeast: 0,
  prepare: async ({ documents, server }) => {
    const name = `bulk-${++databases}`;
    await server.createDatabase(name);
    let filled = 0;
    const next = (): Buffer[] => {
      const ascending = withIds(documents, filled);
      filled += documents.length;
      return bulkBodies(ascending);
    };
    while (filled < largeDocs) await fill(server, name, next(), filled);
    const small = bulkBodies(withIds(documents, 0));
    return {
      floor: () => fillNew(server, small, documents.length),
      server: async () => {
        const bodies = next();
        return { units: documents.length, seconds: await fill(server, name, bodies, filled) };
      },
      floorPid: server.pid,
      close: () => Promise.resolve(),
    };
  },
};

const withIds = (documents: readonly BenchDocument[], first: number): BenchDocument[] =>
  documents.map(({ body }, at) => ({ id: (first + at).toString(16).padStart(32, '0'), body }));

async function fillNew(
  server: BenchContext['server'],
  bodies: readonly Buffer[],
  count: number,
): Promise<Sample> {
  const name = `bulk-${++databases}`;
  await server.createDatabase(name);
  return { units: count, seconds: await fill(server, name, bodies, count) };
}

/** How many seconds it takes. The database must have so many documents then. */
async function fill(
  server: BenchContext['server'],
  name: string,
  bodies: readonly Buffer[],
  count: number,
): Promise<number> {
  const started = performance.now();
  await postAll(`${server.url}/${name}/_bulk_docs`, bodies);
  const seconds = (performance.now() - started) / 1000;
  if ((await server.documentCount(name)) !== count) throw new Error('Documents are missing.');
  return seconds;
}
