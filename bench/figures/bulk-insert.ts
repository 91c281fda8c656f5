import path from 'node:path';
import { bulkBodies } from '../documents.js';
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
  floorLeast: 60_000,
  prepare: async ({ documents, server, folder }) => {
    const bodies = bulkBodies(documents);
    const settings = { folder: path.join(folder, 'store-loop'), docs: documents.length };
    const floor = await FloorProcess.start('store-loop', settings);
    return {
      floor: () => floor.ask<Sample>('run'),
      server: async () => {
        const name = `bulk-${++databases}`;
        await server.createDatabase(name);
        const started = performance.now();
        await postAll(`${server.url}/${name}/_bulk_docs`, bodies);
        const seconds = (performance.now() - started) / 1000;
        if ((await server.documentCount(name)) !== documents.length)
          throw new Error('Documents are missing.');
        return { units: documents.length, seconds };
      },
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};
