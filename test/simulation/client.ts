import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Runtime } from '../../src/base/runtime.js';
import type { RequestHandler } from '../../src/http/connection/request-handler.js';
import type { Random } from '../model/random.js';
import { SimulatedRequest, SimulatedResponse } from './messages.js';

export interface Answer {
  status: number;
  bytes: Buffer;
}

/** Sends requests to the handler of a simulated server. One that is answered after a crash never hears of it. */
export class SimulatedClient {
  constructor(
    private readonly handler: RequestHandler,
    private readonly runtime: Runtime,
    private readonly random: Random,
  ) {}

  send(method: string, path: string, json?: unknown): Promise<Answer> {
    const chunks: Buffer[] = [];
    return this.#begin(method, path, json, (bytes) => chunks.push(bytes)).then((status) => ({
      status,
      bytes: Buffer.concat(chunks),
    }));
  }

  /** An answer that is taken line by line and has no end. */
  async follow(path: string, onLine: (line: string) => void): Promise<void> {
    let text = '';
    const status = await this.#begin('GET', path, undefined, (bytes) => {
      const lines = (text + bytes.toString('latin1')).split('\n');
      text = lines.pop()!;
      for (const line of lines) onLine(Buffer.from(line, 'latin1').toString());
    });
    assert.fail(`${path} has ended with ${status}: ${text}`);
  }

  #begin(method: string, path: string, json: unknown, onBytes: (bytes: Buffer) => void): Promise<number> {
    const { runtime, random } = this;
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
    const request = new SimulatedRequest(method, path, body, runtime, random);
    const response = new SimulatedResponse(request, onBytes, runtime, random);
    const ended = new Promise<number>((resolve, reject) => {
      response.on('close', () => {
        if (response.writableFinished) resolve(response.statusCode);
        else reject(new Error(`${method} ${path} was broken off`));
      });
    });
    this.handler.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    return ended;
  }
}

export const parse = <T>({ bytes }: Answer): T => JSON.parse(bytes.toString()) as T;

/** The name of an error that a disk is the reason for; undefined for other answers. */
export function diskError(answer: Answer): string | undefined {
  if (answer.status !== 503 && answer.status !== 507) return undefined;
  return parse<{ error: string }>(answer).error;
}

/** Refuses answers that nothing explains. */
export function expectStatus(answer: Answer, what: string, ...statuses: number[]): void {
  assert.ok(statuses.includes(answer.status), `${what}: ${answer.status} ${answer.bytes.toString()}`);
}
