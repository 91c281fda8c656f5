import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What each node has for itself: it is sent to all of them. */
const ofNodes = /^\/_node\/|^\/_reload_query_servers/;
/** What one node knows that was asked for it. */
const ofOne = /^\/_(replicate|active_tasks|reshard|stats|prometheus)|\/_compact|\/_view_cleanup/;

interface WholeAnswer {
  status: number;
  rawHeaders: string[];
  body: Buffer;
}

/** Sends each request to another node than the one before. */
export class AlternatingProxy {
  readonly #server = http.createServer((request, response) => void this.#forward(request, response));
  readonly #agent = new http.Agent({ keepAlive: true });
  #next = 0;

  constructor(private readonly urls: readonly string[]) {}

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/', method } = request;
    if (ofNodes.test(url) && method !== 'GET') return await this.#toAll(request, response);
    const at = ofOne.test(url) || ofNodes.test(url) ? 0 : this.#next++ % this.urls.length;
    const sent = this.#send(this.urls[at]!, request, response);
    request.pipe(sent);
  }

  async #toAll(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const [first, ...others] = this.urls;
    const answer = await this.#answerOf(request, first!, body);
    // Where nodes share the option, they all have it when they have set it again.
    for (const url of others) await this.#answerOf(request, url, body);
    response.writeHead(answer.status, answer.rawHeaders);
    response.end(answer.body);
  }

  #answerOf(
    { method, url: path, headers }: IncomingMessage,
    target: string,
    body: Buffer,
  ): Promise<WholeAnswer> {
    const { hostname, port } = new URL(target);
    return new Promise((resolve, reject) => {
      const sent = http.request({ hostname, port, method, path, headers, agent: this.#agent }, (answer) => {
        answer.toArray().then(
          (chunks) =>
            resolve({
              status: answer.statusCode!,
              rawHeaders: answer.rawHeaders,
              body: Buffer.concat(chunks as Buffer[]),
            }),
          reject,
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  #send(url: string, request: IncomingMessage, response: ServerResponse): http.ClientRequest {
    const { hostname, port } = new URL(url);
    const { method, url: path, headers } = request;
    const sent = http.request({ hostname, port, method, path, headers, agent: this.#agent }, (answer) => {
      response.writeHead(answer.statusCode!, answer.statusMessage, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    return sent;
  }
}
