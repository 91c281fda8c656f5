import fs from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../context.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { ask, newViews } from './views.js';
import type { Figure, Sample, Samples } from './figure.js';

const beside = { unit: 'requests/s', floorTitle: 'the same while nothing is built', bar: 0.5, floorLeast: 0 };

export const getWhileBuilding: Figure = {
  ...beside,
  name: 'get-building',
  title: 'GET a document while views are built',
  prepare: (context) => {
    const { documents, database, folder } = context;
    const paths = path.join(folder, 'building.txt');
    fs.writeFileSync(paths, documents.map(({ id }) => `/${database}/${id}\n`).join(''));
    return Promise.resolve(
      whileBuilding(context, (seed) => ({
        script: writeScripts(folder).randomPaths,
        args: [paths, String(seed)],
      })),
    );
  },
};

/** The documents go to a database of their own: those that are indexed stay as they are. */
export const putWhileBuilding: Figure = {
  ...beside,
  name: 'put-building',
  title: 'durable PUT of a new document while views are built',
  prepare: async (context) => {
    const { documents, server, folder } = context;
    await server.createDatabase('beside');
    const bodies = path.join(folder, 'beside.txt');
    const some = documents.slice(0, 1_000);
    fs.writeFileSync(bodies, some.map(({ body }) => `${body}\n`).join(''));
    return whileBuilding(context, (seed) => ({
      script: writeScripts(folder).newDocuments,
      args: ['/beside/', seed.toString(16).padStart(20, '0'), bodies],
    }));
  },
};

/** Samples of one load, alone and beside a build. */
function whileBuilding(
  { server, database, options }: BenchContext,
  load: (seed: number) => { script: string; args: string[] },
): Samples {
  let seed = 0;
  const sample = (): Promise<Sample> => wrk({ url: server.url, ...load(++seed), seconds: options.seconds });
  return {
    floor: sample,
    server: async () => {
      const views = await newViews(server, database);
      const built = ask(server, `${views}/_view/number`);
      const result = await sample();
      await built;
      return result;
    },
    floorPid: server.pid,
    close: () => Promise.resolve(),
  };
}
