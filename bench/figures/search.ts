import fs from 'node:fs';
import path from 'node:path';
import type { BenchContext } from '../context.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess, jsonHeaders, type BenchServer } from '../processes.js';
import { makeTexts, makeWordPairs } from '../texts.js';
import type { Figure, Sample, Samples } from './figure.js';

const database = 'texts';
const docsOfRequest = 1_000;
const pairsCount = 500;

async function send(server: BenchServer, method: string, to: string, body?: object): Promise<void> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(server.url + to, { method, headers: jsonHeaders(server), ...sent });
  if (!answer.ok) throw new Error(`${method} ${to} was answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Texts are three times as long as the documents of other figures. */
const textsOf = ({ options }: BenchContext): number => Math.ceil(options.docs / 3);

async function saveTexts(server: BenchServer, count: number): Promise<void> {
  const { status } = await fetch(`${server.url}/${database}`, {
    method: 'PUT',
    headers: jsonHeaders(server),
  });
  if (status === 412) return;
  const docs = makeTexts(count).map((text, i) => ({ _id: String(i).padStart(8, '0'), text }));
  for (let at = 0; at < count; at += docsOfRequest)
    await send(server, 'POST', `/${database}/_bulk_docs`, { docs: docs.slice(at, at + docsOfRequest) });
}

/** Builds an index that is not there yet. */
async function build(server: BenchServer, name: string): Promise<void> {
  const index = `function (doc) { index('default', doc.text); } // ${name}`;
  await send(server, 'PUT', `/${database}/_design/${name}`, { indexes: { text: { index } } });
  await send(server, 'GET', `/${database}/_design/${name}/_search/text?q=none&limit=0`);
}

const startFts5 = (context: BenchContext): Promise<FloorProcess<{ port: number }>> => {
  const settings = { folder: path.join(context.folder, `fts5-${Date.now()}`), docs: textsOf(context) };
  return FloorProcess.start<{ port: number }>('fts5', settings);
};

/** The time that a build may take: twice that of FTS5's inserts, and that of the index functions on documents in memory. */
async function allowedTime(
  fts5: FloorProcess<{ port: number }>,
  functions: FloorProcess<string>,
): Promise<Sample> {
  const inserted = await fts5.ask<Sample>('run');
  const called = await functions.ask<Sample>('run');
  return { units: inserted.units, seconds: 2 * inserted.seconds + called.seconds };
}

export const searchBuild: Figure = {
  name: 'search-build',
  title: 'build a search index of texts of 1 KB, with its function',
  unit: 'documents/s',
  floorTitle: "twice the time of FTS5's inserts, and that of the functions",
  bar: 1,
  floorLeast: 0,
  prepare: async (context) => {
    const { server } = context;
    const count = textsOf(context);
    await saveTexts(server, count);
    const fts5 = await startFts5(context);
    const functions = await FloorProcess.start<string>('index-loop', { docs: count });
    let builds = 0;
    return {
      floor: () => allowedTime(fts5, functions),
      server: async () => {
        const started = performance.now();
        await build(server, `build-${++builds}`);
        return { units: count, seconds: (performance.now() - started) / 1000 };
      },
      floorPid: fts5.pid,
      close: async () => {
        await fts5.stop();
        await functions.stop();
      },
    };
  },
};

/** Queries of two words, put together in the language of each. */
async function prepareQueries(context: BenchContext, name: string, conjunction: string): Promise<Samples> {
  const { server, folder, options } = context;
  await saveTexts(server, textsOf(context));
  await build(server, name);
  const floor = await startFts5(context);
  const script = writeScripts(folder).randomPaths;
  const queries = makeWordPairs(pairsCount).map(([a, b]) => encodeURIComponent(`${a} ${conjunction} ${b}`));
  const listed = (to: (q: string) => string, file: string): string => {
    fs.writeFileSync(path.join(folder, file), queries.map((q) => `${to(q)}\n`).join(''));
    return path.join(folder, file);
  };
  const own = listed((q) => `/${database}/_design/${name}/_search/text?limit=25&q=${q}`, `${name}.txt`);
  const theirs = listed((q) => `/?q=${q}`, `${name}-fts5.txt`);
  let seed = 0;
  const sample = (url: string, paths: string): Promise<Sample> =>
    wrk({ url, script, args: [paths, String(++seed)], seconds: options.seconds });
  return {
    floor: () => sample(`http://127.0.0.1:${floor.ready.port}`, theirs),
    server: () => sample(server.url, own),
    floorPid: floor.pid,
    close: () => floor.stop(),
  };
}

export const searchOr: Figure = {
  name: 'search',
  title: 'search for either of two words, the 25 best, 32 connections',
  unit: 'requests/s',
  floorTitle: 'FTS5 behind bare HTTP',
  bar: 0.7,
  floorLeast: 0,
  prepare: (context) => prepareQueries(context, 'search-or', 'OR'),
};

export const searchAnd: Figure = {
  name: 'search-and',
  title: 'search for both of two words, the 25 best, 32 connections',
  unit: 'requests/s',
  floorTitle: 'FTS5 behind bare HTTP',
  bar: 0.7,
  floorLeast: 0,
  prepare: (context) => prepareQueries(context, 'search-and', 'AND'),
};
