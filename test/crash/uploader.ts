import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  getBytes,
  multipart,
  noise,
  related,
  sendBytes,
  type BinaryAnswer,
} from '../attachments/attachment-client.js';
import type { Random } from '../model/random.js';
import type { HttpClient } from '../support/http-client.js';

/** Attachments by name, each given by its number. */
type Contents = Readonly<Record<string, number>>;

interface Remembered {
  /** What the server answered for last. */
  rev: string | undefined;
  contents: Contents;
  /** What was sent, and whose answer never came. */
  tried: Contents | undefined;
}

/** Up to 32 KB the bytes stand beside the document; what is larger becomes a file. */
const sizes = [0, 700, 20_000, 32_768, 32_769, 90_000, 700_000];
const keptInStoreBytesMax = 32_768;

const bytes = new Map<number, Buffer>();

/** All follows from the number. Few numbers: documents share their contents, also those of other clients. */
function bytesOf(n: number): Buffer {
  const known = bytes.get(n) ?? noise(sizes[n % sizes.length]!, n);
  bytes.set(n, known);
  return known;
}

const numbersMax = 60;
const documentsMax = 12;
const type = 'application/octet-stream';

/**
 * A client that attaches in every way there is, one request after the other, and remembers what it was answered. When
 * the server is gone, at most one request is in doubt.
 */
export class Uploader {
  readonly #docs = new Map<string, Remembered>();
  acknowledged = 0;

  constructor(
    readonly name: string,
    private readonly random: Random,
  ) {}

  /** Uploads until the server is gone. */
  async run(client: HttpClient, db: string): Promise<void> {
    for (;;) {
      const id = `${this.name}-${this.random.below(documentsMax)}`;
      const doc = this.#docs.get(id) ?? { rev: undefined, contents: {}, tried: undefined };
      this.#docs.set(id, doc);
      let answer: BinaryAnswer;
      try {
        answer = await this.#change(client, `${db}/${id}`, doc);
      } catch {
        return;
      }
      assert.ok(answer.status === 200 || answer.status === 201, answer.bytes.toString());
      const { rev } = JSON.parse(answer.bytes.toString()) as { rev: string };
      this.#docs.set(id, { rev, contents: doc.tried!, tried: undefined });
      this.acknowledged++;
    }
  }

  /** Reads back all that was acknowledged; what was in doubt is settled by what is found. */
  async check(client: HttpClient, db: string): Promise<void> {
    for (const [id, { rev, contents, tried }] of this.#docs) {
      const { status, body } = await client.get(`${db}/${id}`);
      const isOld = status === 404 ? rev === undefined : body._rev === rev;
      const expected = isOld ? contents : tried;
      assert.ok(expected !== undefined, `${id}: ${rev} was acknowledged, and ${body._rev} is there`);
      const names = Object.keys((body._attachments as object | undefined) ?? {});
      assert.deepEqual(names.sort(), Object.keys(expected).sort(), id);
      for (const [name, n] of Object.entries(expected)) {
        const found = await getBytes(client, `${db}/${id}/${name}`);
        assert.ok(found.bytes.equals(bytesOf(n)), `${id}/${name}: ${found.status}`);
      }
      if (status === 404) this.#docs.delete(id);
      else this.#docs.set(id, { rev: body._rev as string, contents: expected, tried: undefined });
    }
  }

  /** The digests of the files that its documents need. */
  files(): string[] {
    return [...this.#docs.values()]
      .flatMap(({ contents }) => Object.values(contents))
      .map(bytesOf)
      .filter(({ length }) => length > keptInStoreBytesMax)
      .map((each) => createHash('sha256').update(each).digest('hex'));
  }

  #change(client: HttpClient, path: string, doc: Remembered): Promise<BinaryAnswer> {
    const n = this.random.below(numbersMax);
    const name = `f${this.random.below(3)}`;
    const query = doc.rev === undefined ? '' : `?rev=${doc.rev}`;
    const removed = Object.keys(doc.contents)[0];
    if (removed !== undefined && this.random.oneIn(8)) {
      doc.tried = Object.fromEntries(Object.entries(doc.contents).filter(([each]) => each !== removed));
      return sendBytes(client, 'DELETE', `${path}/${removed}${query}`);
    }
    doc.tried = { ...doc.contents, [name]: n };
    if (this.random.oneIn(2)) {
      const body = this.random.oneIn(2) ? bytesOf(n) : [bytesOf(n)];
      return sendBytes(client, 'PUT', `${path}/${name}${query}`, { headers: { 'content-type': type }, body });
    }
    const stubs = Object.fromEntries(Object.keys(doc.contents).map((each) => [each, { stub: true }]));
    const whole = (entry: object) => ({
      _attachments: { ...stubs, [name]: { ...entry, content_type: type } },
    });
    if (this.random.oneIn(2)) {
      const body = JSON.stringify(whole({ data: bytesOf(n).toString('base64') }));
      return sendBytes(client, 'PUT', path + query, {
        headers: { 'content-type': 'application/json' },
        body,
      });
    }
    const body = multipart(whole({ follows: true }), [{ body: bytesOf(n) }]);
    return sendBytes(client, 'PUT', path + query, { headers: related, body });
  }
}
