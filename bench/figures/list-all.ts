import path from 'node:path';
import { readThrough } from '../load/http-client.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { FloorProcess } from '../processes.js';
import type { Figure, Sample } from './figure.js';

/** Whole listings one after the other, read from a raw socket by this process. */
export const listAll: Figure = {
  name: 'list',
  title: '_all_docs with documents, all of them',
  unit: 'documents/s',
  floorTitle: 'bare range scan, as many bytes',
  bar: 0.5,
  isComparable: true,
  floorLeast: 0,
  prepare: async ({ documents, database, server, folder, options }) => {
    const listing = `/${database}/_all_docs?include_docs=true`;
    const { body } = await sampleAnswer(server.url + listing);
    const rows = (JSON.parse(body) as { rows: unknown[] }).rows.length;
    if (rows !== documents.length) throw new Error(`The listing has ${rows} rows.`);
    const settings = {
      folder: path.join(folder, 'bare-scan'),
      docs: rows,
      answerBytes: body.length,
      records: 'documents',
    };
    const floor = await FloorProcess.start<{ port: number }>('bare-scan', settings);

    const sample = async (host: string, port: number): Promise<Sample> => {
      const started = performance.now();
      let listings = 0;
      let seconds = 0;
      while (seconds < options.seconds) {
        const bytes = await readThrough(host, port, listing);
        if (bytes < body.length * 0.999)
          throw new Error(`An answer ended after ${bytes} of ${body.length} bytes.`);
        listings++;
        seconds = (performance.now() - started) / 1000;
      }
      return { units: rows * listings, seconds };
    };
    return {
      floor: () => sample('127.0.0.1', floor.ready.port),
      server: () => sample(server.host, server.port),
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};
