import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { BenchContext } from '../context.js';
import { sampleAnswer } from '../load/sample-answer.js';
import { wrk, writeScripts } from '../load/wrk.js';
import { FloorProcess } from '../processes.js';
import type { Figure, Sample, Samples } from './figure.js';

const connections = 4;
const attachmentBytes = 1024 * 1024;
const headers = { 'Content-Type': 'application/octet-stream' };

/** New documents with one attachment each, on disk before it is answered. No two have the same bytes. */
export const uploadAttachment: Figure = {
  name: 'upload',
  title: 'durable PUT of a 1 MB attachment, 4 connections',
  unit: 'requests/s',
  floorTitle: 'HTTP, a file with fdatasync for each request',
  bar: 0.75,
  isComparable: true,
  floorLeast: 0,
  prepare: async ({ server, folder, options }) => {
    const database = 'uploads';
    await server.createDatabase(database);
    const answer = await sampleAnswer(`${server.url}/${database}/0/f`, { method: 'PUT', headers }, 'bytes');
    const files = path.join(folder, 'uploaded');
    const floor = await FloorProcess.start<{ port: number }>('file-for-each', { folder: files, answer });
    const bytes = path.join(folder, 'attachment');
    fs.writeFileSync(bytes, randomBytes(attachmentBytes));
    const script = writeScripts(folder).newAttachments;
    let samples = 0;
    const sample = (url: string): Promise<Sample> => {
      const args = [`/${database}/`, (++samples).toString(16).padStart(8, '0'), bytes];
      return wrk({ url, script, args, seconds: options.seconds, connections });
    };
    return {
      floor: () => sample(`http://127.0.0.1:${floor.ready.port}`),
      server: () => sample(server.url),
      floorPid: floor.pid,
      close: () => floor.stop(),
    };
  },
};

const downloads = 32;

/** Attachments that lie in the system's cache, asked for at random. */
export const downloadAttachment: Figure = {
  name: 'download',
  title: 'GET a 1 MB attachment, 4 connections',
  unit: 'requests/s',
  floorTitle: 'HTTP, a file streamed',
  bar: 0.5,
  isComparable: true,
  floorLeast: 0,
  prepare: prepareDownloads,
};

async function prepareDownloads({ server, folder, options }: BenchContext): Promise<Samples> {
  const database = 'downloads';
  await server.createDatabase(database);
  const files = path.join(folder, 'to-download');
  fs.mkdirSync(files);
  const ids = Array.from({ length: downloads }, (_, i) => `doc${i}`);
  for (const id of ids) {
    const bytes = randomBytes(attachmentBytes);
    fs.writeFileSync(path.join(files, id), bytes);
    await put(`${server.url}/${database}/${id}/f`, bytes);
  }
  const answer = await sampleAnswer(`${server.url}/${database}/${ids[0]}/f`);
  const settings = { folder: files, headers: answer.headers };
  const floor = await FloorProcess.start<{ port: number }>('file-stream', settings);
  const paths = path.join(folder, 'attachment-paths.txt');
  fs.writeFileSync(paths, ids.map((id) => `/${database}/${id}/f\n`).join(''));
  const script = writeScripts(folder).randomPaths;
  let seed = 0;
  const sample = (url: string): Promise<Sample> =>
    wrk({ url, script, args: [paths, String(++seed)], seconds: options.seconds, connections });
  return {
    floor: () => sample(`http://127.0.0.1:${floor.ready.port}`),
    server: () => sample(server.url),
    floorPid: floor.pid,
    close: () => floor.stop(),
  };
}

async function put(url: string, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const request = http.request(url, { method: 'PUT', headers }, (answer) => {
      answer.resume();
      if (answer.statusCode === 201) answer.on('end', () => resolve());
      else reject(new Error(`PUT ${url} was answered ${answer.statusCode}.`));
    });
    request.on('error', reject);
    request.end(bytes);
  });
}
