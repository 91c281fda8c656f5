import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What each node has for itself: it is sent to all of them. */
const ofNodes = /^\/_node\/|^\/_reload_query_servers/;
/** What one node knows that was asked for it. */
const ofOne = /^\/_(replicate|active_tasks|reshard|stats|prometheus)|\/_compact|\/_view_cleanup/;

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
    const sent = this.#send(this.urls[at]!, request, response, true);
    request.pipe(sent);
  }

  async #toAll(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    for (const url of this.urls.slice(1))
      await new Promise<void>((resolve) => {
        const sent = this.#send(url, request, response, false);
        sent.on('close', resolve);
        sent.end(body);
      });
    this.#send(this.urls[0]!, request, response, true).end(body);
  }

  #send(
    url: string,
    request: IncomingMessage,
    response: ServerResponse,
    answers: boolean,
  ): http.ClientRequest {
    const { hostname, port } = new URL(url);
    const { method, url: path, headers } = request;
    const sent = http.request({ hostname, port, method, path, headers, agent: this.#agent }, (answer) => {
      if (!answers) return void answer.resume();
      response.writeHead(answer.statusCode!, answer.statusMessage, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', () => response.destroy());
    if (answers) response.on('close', () => sent.destroy());
    return sent;
  }
}
