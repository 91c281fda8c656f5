import fs from 'node:fs';
import path from 'node:path';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess } from '../processes.js';
import type { BenchContext } from '../context.js';
import type { Figure, Sample, Samples } from './figure.js';

const durable = {
  unit: 'requests/s',
  floorTitle: 'HTTP, append and fdatasync with group commit',
  floorLeast: 0,
};

export const putDocument: Figure = {
  ...durable,
  name: 'put',
  title: 'durable PUT of a new document, 32 connections',
  bar: 0.4,
  isComparable: true,
  prepare: (context) => puts(context, 'puts', 32),
};

export const putAlone: Figure = {
  ...durable,
  name: 'put-alone',
  title: 'durable PUT of a new document, one connection',
  bar: 0.5,
  isComparable: true,
  prepare: (context) => puts(context, 'lone-puts', 1),
};

/** New documents, each on disk before it is answered, all into one database. */
async function puts(
  { documents, server, folder, options }: BenchContext,
  database: string,
  connections: number,
): Promise<Samples> {
  await server.createDatabase(database);
  const headers = { 'Content-Type': 'application/json' };
  const url = `${server.url}/${database}/${'0'.repeat(32)}`;
  const answer = await sampleAnswer(url, { method: 'PUT', headers }, documents[0]!.body);
  const file = path.join(folder, `${database}.appended`);
  const floor = await FloorProcess.start<{ port: number }>('group-append', { file, answer });

  const bodies = path.join(folder, `${database}.bodies`);
  fs.writeFileSync(
    bodies,
    documents
      .slice(0, 1_000)
      .map(({ body }) => `${body}\n`)
      .join(''),
  );
  const script = writeScripts(folder).newDocuments;
  let samples = 0;
  const sample = (to: string): Promise<Sample> => {
    const idPrefix = (++samples).toString(16).padStart(20, '0');
    const args = [`/${database}/`, idPrefix, bodies];
    return wrk({ url: to, script, args, seconds: options.seconds, connections });
  };
  return {
    floor: () => sample(`http://127.0.0.1:${floor.ready.port}`),
    server: () => sample(server.url),
    floorPid: floor.pid,
    close: () => floor.stop(),
  };
}
