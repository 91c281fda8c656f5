import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { authorization, type ServerProcess } from './server-process.js';

const batchDocs = 250;
const smallBytes = 2_000;
const largeBytes = 40_000;
/** One document in so many has an attachment that is kept as a file. */
const largeEvery = 20;

export const headers = { authorization, 'Content-Type': 'application/json' };

/** The bytes that the files of a folder take. One that goes away meanwhile takes none. */
export function folderBytes(folder: string): number {
  let sum = 0;
  for (const name of readFolder(folder)) {
    const file = path.join(folder, name);
    const stats = fs.statSync(file, { throwIfNoEntry: false });
    sum += stats === undefined ? 0 : stats.isDirectory() ? folderBytes(file) : stats.blocks * 512;
  }
  return sum;
}

function readFolder(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

/** Documents with attachments, all of which change with every generation. */
export class Generations {
  readonly #revs: (string | undefined)[];
  readonly #number: number[];

  constructor(
    private readonly server: ServerProcess,
    private readonly database: string,
    readonly docs: number,
  ) {
    this.#revs = new Array<string | undefined>(docs);
    this.#number = new Array<number>(docs).fill(0);
  }

  get url(): string {
    return `${this.server.url}/${this.database}`;
  }

  /** Writes each document once more, in an order that is another each time. */
  async write(generation: number, writers = 2): Promise<void> {
    const stride = [7, 11, 13, 17, 19][generation % 5]!;
    const order = Array.from({ length: this.docs }, (_, at) => (at * stride) % this.docs);
    const numbers = [...new Set(order)];
    assert.equal(numbers.length, this.docs, 'the number of documents has no factor among the strides');
    let next = 0;
    const writer = async (): Promise<void> => {
      while (next < numbers.length) {
        const from = next;
        next += batchDocs;
        await this.#save(numbers.slice(from, from + batchDocs), generation);
      }
    };
    await Promise.all(Array.from({ length: writers }, writer));
  }

  async #save(numbers: readonly number[], generation: number): Promise<void> {
    const docs = numbers.map((number) => ({
      _id: idOf(number),
      ...(this.#revs[number] === undefined ? {} : { _rev: this.#revs[number] }),
      number,
      generation,
      text: randomBytes(100).toString('hex'),
      _attachments: attachments(number),
    }));
    const body = JSON.stringify({ docs });
    const answer = await fetch(`${this.url}/_bulk_docs`, { method: 'POST', headers, body });
    assert.equal(answer.status, 201);
    const rows = (await answer.json()) as { ok?: true; rev: string }[];
    for (const [i, row] of rows.entries()) {
      assert.ok(row.ok, JSON.stringify(row));
      this.#revs[numbers[i]!] = row.rev;
      this.#number[numbers[i]!] = generation;
    }
  }

  /** Reads every document, and some of the attachments, and compares. */
  async check(): Promise<void> {
    const answer = await fetch(`${this.url}/_all_docs?include_docs=true`, { headers });
    const { rows } = (await answer.json()) as {
      rows: { doc: { _rev: string; number: number; generation: number } }[];
    };
    assert.equal(rows.length, this.docs);
    for (const { doc } of rows) {
      assert.equal(doc._rev, this.#revs[doc.number]);
      assert.equal(doc.generation, this.#number[doc.number]);
    }
    for (let number = 0; number < this.docs; number += Math.ceil(this.docs / 50)) {
      const found = await fetch(`${this.url}/${idOf(number)}/a`, { headers });
      assert.equal((await found.arrayBuffer()).byteLength, sizeOf(number));
    }
  }
}

export const idOf = (number: number): string => `doc-${number.toString().padStart(6, '0')}`;

const sizeOf = (number: number): number => (number % largeEvery === 0 ? largeBytes : smallBytes);

const attachments = (number: number): object => ({
  a: { content_type: 'application/octet-stream', data: randomBytes(sizeOf(number)).toString('base64') },
});
