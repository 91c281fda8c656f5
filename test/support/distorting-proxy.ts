import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A response on its way through the proxy, and what was asked. */
export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  status: number;
  text: string;
}

/** Hands everything on to a server, and changes its answers. */
export class DistortingProxy {
  distort: (passing: Passing) => void = () => {};
  readonly #server: http.Server;

  constructor(private readonly target: string) {
    this.#server = http.createServer((request, response) => this.#pass(request, response));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #pass(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { hostname, port } = new URL(this.target);
    const { method = '', url: path = '', headers } = request;
    const onward = http.request({ hostname, port, method, path, headers }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const passing = { method, path, headers, status: answer.statusCode!, text };
      this.distort(passing);
      const kept = { ...answer.headers };
      for (const name of ['content-length', 'transfer-encoding']) delete kept[name];
      response.writeHead(passing.status, kept);
      response.end(method === 'HEAD' ? undefined : passing.text);
    });
    request.pipe(onward);
  }
}
