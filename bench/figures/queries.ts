import fs from 'node:fs';
import path from 'node:path';
import { randomNumbers } from '../documents.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { authorization, FloorProcess, type ServerProcess } from '../processes.js';
import type { Figure, Sample } from './figure.js';

const headers = { authorization, 'Content-Type': 'application/json' };

async function post(server: ServerProcess, to: string, body: object): Promise<Record<string, unknown>> {
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

export const findIndexed: Figure = {
  name: 'find-index',
  title: '_find of 25 documents by an index, 32 connections',
  unit: 'requests/s',
  floorTitle: 'bare HTTP with the bytes of such an answer',
  bar: 0.1,
  floorLeast: 15_000,
  prepare: async ({ documents, database, server, folder, options }) => {
    await post(server, `/${database}/_index`, {
      index: { fields: ['number'] },
      ddoc: 'find',
      name: 'number',
    });
    const random = randomNumbers(7);
    const queryOf = (): string =>
      JSON.stringify({ selector: { number: { $gt: Math.floor(random() * (documents.length - 30)) } } });
    const queries = Array.from({ length: bodiesCount }, queryOf);
    const to = `/${database}/_find`;
    const answer = await sampleAnswer(server.url + to, { method: 'POST', headers }, queries[0]);
    const floor = await FloorProcess.start<{ port: number }>('bare-http', answer);
    const bodies = path.join(folder, 'find-bodies.txt');
    fs.writeFileSync(bodies, queries.map((query) => `${query}\n`).join(''));
    const script = writeScripts(folder).randomBodies;
    let seed = 0;
    const sample = (url: string): Promise<Sample> =>
      wrk({ url, script, args: [to, bodies, String(++seed)], seconds: options.seconds });
    return {
      floor: () => sample(`http://127.0.0.1:${floor.ready.port}`),
      server: () => sample(server.url),
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};
