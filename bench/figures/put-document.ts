import fs from 'node:fs';
import path from 'node:path';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess } from '../processes.js';
import type { Figure, Sample } from './figure.js';

/** New documents, each on disk before it is answered, all into one database. */
export const putDocument: Figure = {
  name: 'put',
  title: 'durable PUT of a new document, 32 connections',
  unit: 'requests/s',
  floorTitle: 'HTTP, append and fdatasync with group commit',
  bar: 0.5,
  floorLeast: 0,
  prepare: async ({ documents, server, folder, options }) => {
    const database = 'puts';
    await server.createDatabase(database);
    const headers = { 'Content-Type': 'application/json' };
    const url = `${server.url}/${database}/${'0'.repeat(32)}`;
    const answer = await sampleAnswer(url, { method: 'PUT', headers }, documents[0]!.body);
    const file = path.join(folder, 'appended');
    const floor = await FloorProcess.start<{ port: number }>('group-append', { file, answer });

    const bodies = path.join(folder, 'bodies.txt');
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
      return wrk({ url: to, script, args: [`/${database}/`, idPrefix, bodies], seconds: options.seconds });
    };
    return {
      floor: () => sample(`http://127.0.0.1:${floor.ready.port}`),
      server: () => sample(server.url),
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};
