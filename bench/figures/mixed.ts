import http from 'node:http';
import type { BenchContext } from '../context.js';
import { randomNumbers } from '../documents.js';
import { startTwoProcesses } from '../two-processes.js';
import type { Figure, Sample, Samples } from './figure.js';

const connections = 64;
const readShare = 0.8;
/** So many times the median the slowest hundredth may take. */
const timesMedianMax = 5;

const mixed = {
  unit: 'a second at the 99th percentile',
  floorTitle: `${timesMedianMax} times the median`,
  bar: 1,
  floorLeast: 0,
};

export const mixedReads: Figure = {
  ...mixed,
  name: 'mix-reads',
  title: `GET beside PUT (4 to 1), two processes, ${connections} connections`,
  prepare: (context) => mixedLoad(context, 'reads'),
};

export const mixedWrites: Figure = {
  ...mixed,
  name: 'mix-writes',
  title: `durable PUT beside GET (1 to 4), two processes, ${connections} connections`,
  prepare: (context) => mixedLoad(context, 'writes'),
};

/** Of one and the same load the median is the floor, and the 99th percentile the sample. */
async function mixedLoad(context: BenchContext, of: 'reads' | 'writes'): Promise<Samples> {
  const { documents, database, options } = context;
  const server = await startTwoProcesses(context, `data-of-mix-${of}`);
  const load = new MixedLoad(`${server.url}/${database}`, documents);
  let timesMs: number[] = [];
  const slowerThan = (share: number): Sample => {
    const at = Math.min(timesMs.length - 1, Math.floor(share * timesMs.length));
    return { units: 1_000, seconds: timesMs[at]! };
  };
  return {
    floor: async () => {
      timesMs = (await load.run(options.seconds))[of].sort((a, b) => a - b);
      const { units, seconds } = slowerThan(0.5);
      return { units, seconds: timesMedianMax * seconds };
    },
    server: () => Promise.resolve(slowerThan(0.99)),
    floorPid: server.pid,
    serverPid: server.pid,
    close: async () => {
      load.close();
      await server.stop();
    },
  };
}

/** Clients that read documents and save new ones by turns, each on a connection of its own. Every answer must be good. */
class MixedLoad {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  readonly #random = randomNumbers(3);
  #saved = 0;

  constructor(
    private readonly url: string,
    private readonly documents: BenchContext['documents'],
  ) {}

  /** How many milliseconds each request took. */
  async run(seconds: number): Promise<{ reads: number[]; writes: number[] }> {
    const taken = { reads: [] as number[], writes: [] as number[] };
    const end = performance.now() + seconds * 1_000;
    const client = async (): Promise<void> => {
      for (let started = performance.now(); started < end; started = performance.now()) {
        const isRead = this.#random() < readShare;
        await (isRead ? this.#read() : this.#save());
        taken[isRead ? 'reads' : 'writes'].push(performance.now() - started);
      }
    };
    await Promise.all(Array.from({ length: connections }, client));
    return taken;
  }

  close(): void {
    this.#agent.destroy();
  }

  #pick(): BenchContext['documents'][number] {
    return this.documents[Math.floor(this.#random() * this.documents.length)]!;
  }

  async #read(): Promise<void> {
    await this.#send('GET', this.#pick().id, 200);
  }

  async #save(): Promise<void> {
    await this.#send('PUT', `mixed-${++this.#saved}`, 201, this.#pick().body);
  }

  async #send(method: string, id: string, expected: number, body?: string): Promise<void> {
    const headers = { 'Content-Type': 'application/json' };
    const status = await new Promise((resolve, reject) => {
      const request = http.request(`${this.url}/${id}`, { method, agent: this.#agent, headers }, (answer) => {
        answer.on('end', () => resolve(answer.statusCode)).on('error', reject);
        answer.resume();
      });
      request.on('error', reject);
      request.end(body);
    });
    if (status !== expected) throw new Error(`${method} ${id} was answered ${String(status)}.`);
  }
}
