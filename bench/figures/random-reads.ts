import fs from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../context.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess } from '../processes.js';
import type { Figure, Sample, Samples } from './figure.js';

const bareHttp = {
  unit: 'requests/s',
  floorTitle: 'bare HTTP with the bytes of a document',
  floorLeast: 25_000,
};

export const getDocument: Figure = {
  ...bareHttp,
  name: 'get',
  title: 'GET a document, 32 connections',
  bar: 0.6,
  prepare: (context) => randomReads(context, (database, id) => `/${database}/${id}`),
};

export const listPage: Figure = {
  ...bareHttp,
  name: 'page',
  title: '_all_docs, 20 rows from an id on, 32 connections',
  bar: 0.35,
  prepare: (context) =>
    randomReads(context, (database, id) => `/${database}/_all_docs?limit=20&startkey=%22${id}%22`),
};

/** The floor is asked the same as the server, and always answers with one and the same document. */
async function randomReads(
  { documents, database, folder, server, options }: BenchContext,
  pathOf: (database: string, id: string) => string,
): Promise<Samples> {
  const answer = await sampleAnswer(`${server.url}/${database}/${documents[0]!.id}`);
  const floor = await FloorProcess.start<{ port: number }>('bare-http', answer);
  const paths = path.join(folder, 'paths.txt');
  fs.writeFileSync(paths, documents.map(({ id }) => `${pathOf(database, id)}\n`).join(''));
  const script = writeScripts(folder).randomPaths;
  let seed = 0;
  const sample = (url: string): Promise<Sample> =>
    wrk({ url, script, args: [paths, String(++seed)], seconds: options.seconds });
  return {
    floor: () => sample(`http://127.0.0.1:${floor.ready.port}`),
    server: () => sample(server.url),
    floorPid: floor.pid,
    close: () => floor.stop(),
  };
}
