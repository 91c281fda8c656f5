import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Random } from '../model/random.js';
import type { Answer, RequestOptions } from '../support/http-client.js';
import type { Operation } from './linearizable.js';
import type { TestNode } from './test-node.js';

export const fresh = { 'x-tuffet-reads': 'fresh' };
/** Larger than what is stored in documents, so it has to be brought to other nodes. */
const attachmentBytes = 40_000;

interface Doc {
  _rev: string;
  value: string;
  n: number;
}

/** What clients have done, and what they were told. */
export class Record {
  readonly histories = new Map<string, Operation[]>();
  /** Revisions of each document that were acknowledged. */
  readonly acknowledged = new Map<string, string[]>();
  /** The digest of each attachment that was acknowledged, by its path. */
  readonly attachments = new Map<string, string>();
  readonly outcomes = { reads: 0, done: 0, conflict: 0, unknown: 0, refused: 0 };

  note(id: string, operation: Operation): void {
    const history = this.histories.get(id) ?? [];
    history.push(operation);
    this.histories.set(id, history);
    this.outcomes[operation.kind === 'read' ? 'reads' : operation.outcome]++;
  }
}

/** Reads and changes documents, one request after the other, and writes down what happens. */
export class RecordingClient {
  /** Requests that a node has answered as it should. */
  progress = 0;
  #writes = 0;
  #stopped = false;
  #running: Promise<void> | undefined;

  constructor(
    private readonly name: string,
    private readonly nodes: readonly TestNode[],
    private readonly docs: () => readonly string[],
    private readonly record: Record,
    private readonly random: Random,
  ) {}

  start(): void {
    this.#stopped = false;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const node = this.random.pick(this.nodes);
      const isDone = this.random.oneIn(25) ? await this.#attach(node) : await this.#change(node);
      if (isDone) this.progress++;
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Tells whether the document was read and changed. */
  async #change(node: TestNode): Promise<boolean> {
    const id = this.random.pick(this.docs());
    const doc = await readDoc(node, id, this.record);
    if (doc === 'unknown') return false;
    const value = `${this.name}.${++this.#writes}`;
    const json = { _rev: doc?._rev, value, n: (doc?.n ?? 0) + 1 };
    const start = performance.now();
    const answer = await send(node, 'PUT', `/db/${id}`, { json });
    const outcome = outcomeOf(answer);
    if (outcome === 'refused') this.record.outcomes.refused++;
    else {
      const end = outcome === 'unknown' ? Infinity : performance.now();
      this.record.note(id, { kind: 'write', start, end, expected: doc?.value, value, outcome });
    }
    if (outcome === 'done') {
      const revs = this.record.acknowledged.get(id) ?? [];
      this.record.acknowledged.set(id, [...revs, (answer as Answer).body.rev]);
    }
    return outcome === 'done';
  }

  async #attach(node: TestNode): Promise<boolean> {
    const raw = randomBytes(attachmentBytes);
    const path = `/db/file-${this.name}-${++this.#writes}/large`;
    const headers = { 'content-type': 'application/octet-stream' };
    const isDone = outcomeOf(await send(node, 'PUT', path, { raw, headers })) === 'done';
    if (isDone) this.record.attachments.set(path, createHash('md5').update(raw).digest('base64'));
    return isDone;
  }
}

/** Undefined where there is no such document. */
export async function readDoc(
  node: TestNode,
  id: string,
  record: Record,
): Promise<Doc | undefined | 'unknown'> {
  const start = performance.now();
  const answer = await send(node, 'GET', `/db/${id}`);
  if (answer instanceof Error || answer.status === 503) return 'unknown';
  const { status, body } = answer;
  const isMissing = status === 404 && body.reason === 'missing';
  assert.ok(status === 200 || isMissing, `${node.name} answered GET ${id} with ${status} ${answer.text}`);
  const value = isMissing ? undefined : (body as Doc).value;
  record.note(id, { kind: 'read', start, end: performance.now(), value });
  return isMissing ? undefined : body;
}

/** An error where there is no answer. */
async function send(
  node: TestNode,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer | Error> {
  const headers = { ...options.headers, ...fresh };
  return await node.client
    .send(method, path, { ...options, headers })
    .catch((error: unknown) => error as Error);
}

/** `refused` where nothing can have happened. */
function outcomeOf(answer: Answer | Error): 'done' | 'conflict' | 'unknown' | 'refused' {
  if (answer instanceof Error)
    return (answer as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'unknown';
  if (answer.status === 201) return 'done';
  if (answer.status === 409) return 'conflict';
  assert.equal(answer.status, 503, answer.text);
  return /may have been saved|was applied/.test(answer.body.reason) ? 'unknown' : 'refused';
}
