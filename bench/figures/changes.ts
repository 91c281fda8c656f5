import path from 'node:path';
import { readThrough } from '../load/http-client.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { FloorProcess } from '../processes.js';
import type { BenchContext } from '../context.js';
import type { Figure, Sample, Samples } from './figure.js';

const floorTitle = 'bare scan of the records, as many bytes';

/** All changes of the database, one answer after the other, read from a raw socket by this process. */
export const changes: Figure = {
  name: 'changes',
  title: '_changes, all of them',
  unit: 'rows/s',
  floorTitle,
  bar: 0.5,
  isComparable: true,
  floorLeast: 0,
  prepare: (context) => prepare(context, `/${context.database}/_changes`, 'changes'),
};

/** A continuous feed from the beginning, up to the last document. */
export const continuousChanges: Figure = {
  name: 'continuous',
  title: '_changes as a continuous feed',
  unit: 'events/s',
  floorTitle,
  bar: 0.4,
  isComparable: true,
  floorLeast: 0,
  prepare: (context) =>
    prepare(
      context,
      `/${context.database}/_changes?feed=continuous&limit=${context.documents.length}`,
      'continuous',
    ),
};

async function prepare(
  { documents, server, folder, options }: BenchContext,
  feed: string,
  name: string,
): Promise<Samples> {
  const { body } = await sampleAnswer(server.url + feed);
  const rows = body.split('"changes":[').length - 1;
  if (rows !== documents.length) throw new Error(`The feed has ${rows} rows.`);
  const floor = await FloorProcess.start<{ port: number }>('bare-scan', {
    folder: path.join(folder, `bare-${name}`),
    docs: rows,
    answerBytes: body.length,
    records: 'changes',
  });
  const sample = async (host: string, port: number): Promise<Sample> => {
    const started = performance.now();
    let feeds = 0;
    let seconds = 0;
    while (seconds < options.seconds) {
      const bytes = await readThrough(host, port, feed);
      if (bytes < body.length * 0.999)
        throw new Error(`A feed ended after ${bytes} of ${body.length} bytes.`);
      feeds++;
      seconds = (performance.now() - started) / 1000;
    }
    return { units: rows * feeds, seconds };
  };
  return {
    floor: () => sample('127.0.0.1', floor.ready.port),
    server: () => sample(server.host, server.port),
    floorPid: floor.pid,
    close: () => floor.stop(),
  };
}
