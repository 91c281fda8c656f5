import fs from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../context.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess } from '../processes.js';
import { startTwoProcesses } from '../two-processes.js';
import type { Figure, Sample, Samples } from './figure.js';

const bareHttp = {
  unit: 'requests/s',
  floorTitle: 'bare HTTP with the bytes of a document',
  floorLeast: 12_000,
};

export const getDocument: Figure = {
  ...bareHttp,
  name: 'get',
  title: 'GET a document, 32 connections',
  bar: 0.75,
  isComparable: true,
  prepare: (context) => randomReads(context, (database, id) => `/${database}/${id}`),
};

export const listPage: Figure = {
  ...bareHttp,
  name: 'page',
  title: '_all_docs, 20 rows from an id on, 32 connections',
  bar: 0.45,
  isComparable: true,
  prepare: (context) =>
    randomReads(context, (database, id) => `/${database}/_all_docs?limit=20&startkey=%22${id}%22`),
};

export const getFromTwo: Figure = {
  name: 'get-workers',
  title: 'GET a document from two processes, 32 connections',
  unit: 'requests/s',
  floorTitle: 'the same from one',
  bar: 1.4,
  floorLeast: 0,
  prepare: async (context) => {
    const { documents, database, folder, server, options } = context;
    const two = await startTwoProcesses(context, 'data-of-two');
    const sample = randomPaths(
      folder,
      documents.map(({ id }) => `/${database}/${id}`),
      options.seconds,
    );
    return {
      floor: () => sample(server.url),
      server: () => sample(two.url),
      floorPid: server.pid,
      serverPid: two.pid,
      close: () => two.stop(),
    };
  },
};

/** The floor is asked the same as the server, and always answers with one and the same document. */
async function randomReads(
  { documents, database, folder, server, options }: BenchContext,
  pathOf: (database: string, id: string) => string,
): Promise<Samples> {
  const answer = await sampleAnswer(`${server.url}/${database}/${documents[0]!.id}`);
  const floor = await FloorProcess.start<{ port: number }>('bare-http', answer);
  const sample = randomPaths(
    folder,
    documents.map(({ id }) => pathOf(database, id)),
    options.seconds,
  );
  return {
    floor: () => sample(`http://127.0.0.1:${floor.ready.port}`),
    server: () => sample(server.url),
    floorPid: floor.pid,
    close: () => floor.stop(),
  };
}

/** Asks a server for these paths, at random. */
function randomPaths(
  folder: string,
  paths: readonly string[],
  seconds: number,
): (url: string) => Promise<Sample> {
  const file = path.join(folder, 'paths.txt');
  fs.writeFileSync(file, paths.map((each) => `${each}\n`).join(''));
  const script = writeScripts(folder).randomPaths;
  let seed = 0;
  return (url) => wrk({ url, script, args: [file, String(++seed)], seconds });
}
