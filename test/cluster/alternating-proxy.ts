import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What each node has for itself: it is sent to all of them. */
const ofNodes = /^\/_node\/|^\/_reload_query_servers/;
/** What one node knows that was asked for it. */
const ofOne = /^\/_(stats|prometheus)|\/_compact|\/_view_cleanup/;

/** What lists nodes, or counts copies: the information of databases. Feeds are none of it. */
const listsNodes = /^\/_membership|\/_shards\b|^\/_dbs_info|^\/(?!_db_updates)[^/?]+\/?(\?|$)/;
const copiesOfThree = '"n":3,"w":2,"r":2';
const copiesOfOne = '"n":1,"w":1,"r":1';

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

  constructor(
    private readonly urls: readonly string[],
    /** The names of the nodes: where all of them are listed, an answer lists the first one only, as that of one server. */
    private readonly names: readonly string[],
  ) {}

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
    if (listsNodes.test(url) && method !== 'HEAD')
      return await this.#asOfOne(this.urls[at]!, request, response);
    const sent = this.#send(this.urls[at]!, request, response);
    request.pipe(sent);
  }

  async #asOfOne(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, rawHeaders, body } = await this.#answerOf(request, url, await wholeBody(request));
    const text = body
      .toString()
      .replaceAll(JSON.stringify(this.names), JSON.stringify(this.names.slice(0, 1)))
      .replaceAll(copiesOfThree, copiesOfOne);
    const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'content-length');
    if (at >= 0) rawHeaders[at + 1] = String(Buffer.byteLength(text));
    response.writeHead(status, rawHeaders);
    response.end(text);
  }

  async #toAll(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await wholeBody(request);
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
        const { statusCode, rawHeaders } = answer;
        wholeBody(answer).then((whole) => resolve({ status: statusCode!, rawHeaders, body: whole }), reject);
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

const wholeBody = async (message: IncomingMessage): Promise<Buffer> =>
  Buffer.concat((await message.toArray()) as Buffer[]);
