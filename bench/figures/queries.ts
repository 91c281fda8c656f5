import fs from 'node:fs';
import path from 'node:path';
import { randomNumbers } from '../documents.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess, jsonHeaders, type BenchServer } from '../processes.js';
import type { BenchContext } from '../context.js';
import type { Figure, Sample } from './figure.js';

async function post(server: BenchServer, to: string, body: object): Promise<Record<string, unknown>> {
  const headers = jsonHeaders(server);
  const answer = await fetch(server.url + to, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`POST ${to} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** Nothing matches, so that every document is looked at. */
export const findScan: Figure = {
  name: 'find-scan',
  title: '_find without an index, two conditions',
  unit: 'documents/s',
  floorTitle: 'bare range scan that parses each document',
  bar: 0.4,
  isComparable: true,
  enough: 200_000,
  floorLeast: 0,
  prepare: async ({ documents, database, server, folder }) => {
    const settings = { folder: path.join(folder, 'parse-scan'), docs: documents.length };
    const floor = await FloorProcess.start<string>('parse-scan', settings);
    const selector = { weight: { $lt: -1 }, active: true };
    return {
      floor: () => floor.ask<Sample>('run'),
      server: async () => {
        const started = performance.now();
        await post(server, `/${database}/_find`, { selector });
        return { units: documents.length, seconds: (performance.now() - started) / 1000 };
      },
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};

const bodiesCount = 2_000;

/** A file with bodies of queries, one a line, and an index that serves them. */
async function prepareQueries(
  { database, server, folder }: BenchContext,
  name: string,
  queryOf: (random: () => number) => object,
): Promise<{ bodies: string; first: string }> {
  await post(server, `/${database}/_index`, { index: { fields: ['number'] }, ddoc: 'find', name: 'number' });
  const random = randomNumbers(7);
  const queries = Array.from({ length: bodiesCount }, () => JSON.stringify(queryOf(random)));
  // What comes first waits for the index.
  await post(server, `/${database}/_find`, JSON.parse(queries[0]!) as object);
  const bodies = path.join(folder, `${name}.txt`);
  fs.writeFileSync(bodies, queries.map((query) => `${query}\n`).join(''));
  return { bodies, first: queries[0]! };
}

/** Posts the queries of a file, at random, from 32 connections. */
function sampler({
  database,
  folder,
  options,
}: BenchContext): (url: string, bodies: string) => Promise<Sample> {
  const script = writeScripts(folder).randomBodies;
  let seed = 0;
  return (url, bodies) => {
    const args = [`/${database}/_find`, bodies, String(++seed)];
    return wrk({ url, script, args, seconds: options.seconds });
  };
}

export const findIndexed: Figure = {
  name: 'find-index',
  title: '_find of 25 documents by an index, 32 connections',
  unit: 'requests/s',
  floorTitle: 'bare HTTP with the bytes of such an answer',
  bar: 0.45,
  isComparable: true,
  floorLeast: 10_000,
  prepare: async (context) => {
    const { documents, database, server } = context;
    const { bodies, first } = await prepareQueries(context, 'find-index', (random) => ({
      selector: { number: { $gt: Math.floor(random() * (documents.length - 30)) } },
    }));
    const asked = { method: 'POST', headers: jsonHeaders(server) };
    const answer = await sampleAnswer(`${server.url}/${database}/_find`, asked, first);
    const floor = await FloorProcess.start<{ port: number }>('bare-http', answer);
    const sample = sampler(context);
    return {
      floor: () => sample(`http://127.0.0.1:${floor.ready.port}`, bodies),
      server: () => sample(server.url, bodies),
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};

const rangeDocs = 20;

export const findOr: Figure = {
  name: 'find-or',
  title: '_find of two indexed ranges by $or, 32 connections',
  unit: 'requests/s',
  floorTitle: 'the same of one range',
  bar: 0.33,
  floorLeast: 0,
  prepare: async (context) => {
    const { documents, server } = context;
    const range = (random: () => number): object => {
      const from = Math.floor(random() * (documents.length - rangeDocs));
      return { number: { $gte: from, $lt: from + rangeDocs } };
    };
    const one = await prepareQueries(context, 'find-one', (random) => ({
      selector: range(random),
      limit: 100,
    }));
    const two = await prepareQueries(context, 'find-or', (random) => ({
      selector: { $or: [range(random), range(random)] },
      limit: 100,
    }));
    const sample = sampler(context);
    return {
      floor: () => sample(server.url, one.bodies),
      server: () => sample(server.url, two.bodies),
      floorPid: server.pid,
      close: () => Promise.resolve(),
    };
  },
};

/** Each in its turn, so that nothing of an index is left when it is built again. */
const builtFields = ['number', 'email', 'weight', 'created_at', 'name', 'note'];

export const findBuild: Figure = {
  name: 'find-build',
  title: 'build an index of one field',
  unit: 'documents/s',
  floorTitle: 'bare loop that parses each document and picks the field',
  bar: 0.5,
  isComparable: true,
  enough: 60_000,
  floorLeast: 0,
  prepare: async ({ documents, database, server }) => {
    const floor = await FloorProcess.start<string>('parse-pick', { docs: documents.length });
    let builds = 0;
    return {
      floor: () => floor.ask<Sample>('run'),
      server: async () => {
        const field = builtFields[++builds % builtFields.length]!;
        const name = `build-${field}`;
        const started = performance.now();
        await post(server, `/${database}/_index`, { index: { fields: [field] }, ddoc: name, name });
        const query = { selector: { [field]: '' }, use_index: [name, name], allow_fallback: false };
        await post(server, `/${database}/_find`, query);
        const seconds = (performance.now() - started) / 1000;
        const path = `/${database}/_index/_design/${name}/json/${name}`;
        await fetch(server.url + path, { method: 'DELETE', headers: jsonHeaders(server) });
        await post(server, `/${database}/_view_cleanup`, {});
        return { units: documents.length, seconds };
      },
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};
