import fs from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../context.js';
import { randomNumbers } from '../documents.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess, jsonHeaders, type BenchServer } from '../processes.js';
import { benchViews } from '../views.js';
import type { Figure, Sample, Samples } from './figure.js';

const design = '_design/bench';
/** Different requests of one figure. */
const pathsCount = 2_000;

let builds = 0;

/** New views, so that nothing of them is there yet. Gives the path of the design document. */
export async function newViews(server: BenchServer, database: string): Promise<string> {
  const name = `_design/build${++builds}`;
  await save(server, `/${database}/${name}`, { views: benchViews(String(builds)) });
  return `/${database}/${name}`;
}

async function save(server: BenchServer, to: string, doc: object): Promise<void> {
  const headers = jsonHeaders(server);
  const answer = await fetch(server.url + to, { method: 'PUT', headers, body: JSON.stringify(doc) });
  if (!answer.ok) throw new Error(`PUT ${to} was answered ${answer.status}: ${await answer.text()}`);
}

export async function ask(server: BenchServer, from: string): Promise<unknown> {
  const answer = await fetch(server.url + from, { headers: jsonHeaders(server) });
  if (!answer.ok) throw new Error(`GET ${from} was answered ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}

export const viewBuild: Figure = {
  name: 'view-build',
  title: 'build three views of a design document',
  unit: 'documents/s',
  floorTitle: 'the same functions in the same sandbox, rows thrown away',
  bar: 0.7,
  isComparable: true,
  floorLeast: 0,
  prepare: async ({ documents, database, server }) => {
    const floor = await FloorProcess.start<string>('map-loop', { docs: documents.length });
    return {
      floor: () => floor.ask<Sample>('run'),
      server: async () => {
        const views = await newViews(server, database);
        const started = performance.now();
        await ask(server, `${views}/_view/number`);
        return { units: documents.length, seconds: (performance.now() - started) / 1000 };
      },
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};

const bareHttp = {
  unit: 'requests/s',
  floorTitle: 'bare HTTP with the bytes of such an answer',
  floorLeast: 10_000,
};

export const viewReduce: Figure = {
  ...bareHttp,
  name: 'view-reduce',
  title: 'reduce over a random range, 32 connections',
  bar: 0.5,
  isComparable: true,
  prepare: (context) =>
    queries(context, (random, docs) => {
      const [low, high] = [random(docs), random(docs)].sort((a, b) => a - b);
      return `/_view/number?startkey=${low}&endkey=${high}`;
    }),
};

export const viewGroup: Figure = {
  ...bareHttp,
  name: 'view-group',
  title: 'group_level=1 of 100 groups, 32 connections',
  bar: 0.5,
  isComparable: true,
  prepare: (context) => queries(context, () => '/_view/group?group_level=1'),
};

export const viewKey: Figure = {
  ...bareHttp,
  name: 'view-key',
  title: 'rows of one key, 32 connections',
  bar: 0.5,
  isComparable: true,
  prepare: (context) =>
    queries(
      context,
      (random, docs) => `/_view/email?reduce=false&key=%22patient${random(docs)}@example.org%22`,
    ),
};

/** Queries of views that are built already; the floor answers all of them like the server answers the first. */
async function queries(
  { documents, database, folder, server, options }: BenchContext,
  queryOf: (random: (below: number) => number, docs: number) => string,
): Promise<Samples> {
  if (!(await exists(server, `/${database}/${design}`)))
    await save(server, `/${database}/${design}`, { views: benchViews('queries') });
  const numbers = randomNumbers(7);
  const random = (below: number): number => Math.floor(numbers() * below);
  const list = Array.from(
    { length: pathsCount },
    () => `/${database}/${design}${queryOf(random, documents.length)}`,
  );
  const answer = await sampleAnswer(server.url + list[0]!);
  const floor = await FloorProcess.start<{ port: number }>('bare-http', answer);
  const paths = path.join(folder, 'queries.txt');
  fs.writeFileSync(paths, list.map((each) => `${each}\n`).join(''));
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

async function exists(server: BenchServer, what: string): Promise<boolean> {
  return (await fetch(server.url + what, { headers: jsonHeaders(server) })).ok;
}

/** The median, for the bar is one. */
const changesEach = 41;
const barMs = 3;

export const viewFresh: Figure = {
  name: 'view-fresh',
  title: 'a changed document in the next answer, against 3 ms',
  unit: 'changes/s',
  floorTitle: 'one in 3 ms',
  bar: 1,
  isComparable: true,
  floorLeast: 0,
  prepare: async ({ server, documents, database }) => {
    const views = `/${database}/${design}`;
    if (!(await exists(server, views))) await save(server, views, { views: benchViews('queries') });
    await ask(server, `${views}/_view/number`);
    let number = documents.length;
    const change = async (): Promise<number> => {
      number++;
      await save(server, `/${database}/fresh${number}`, { number });
      const started = performance.now();
      const { rows } = (await ask(server, `${views}/_view/number?reduce=false&key=${number}`)) as {
        rows: unknown[];
      };
      if (rows.length !== 1) throw new Error('A change was not seen.');
      return performance.now() - started;
    };
    return {
      floor: () => Promise.resolve({ units: 1000 / barMs, seconds: 1 }),
      server: async () => {
        const times: number[] = [];
        for (let i = 0; i < changesEach; i++) times.push(await change());
        times.sort((a, b) => a - b);
        return { units: 1, seconds: times[(changesEach - 1) / 2]! / 1000 };
      },
      floorPid: process.pid,
      close: () => Promise.resolve(),
    };
  },
};
