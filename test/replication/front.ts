import http from 'node:http';
import net from 'node:net';
import { after } from 'node:test';
import { Random } from '../model/random.js';

/** One request that came by. */
export interface Passing {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  /** Bytes of its body so far. */
  bytes: number;
}

/** What is to be done with a request in the place of passing it on. */
export type Interference = (passing: Passing, response: http.ServerResponse) => boolean;

/** A server that passes requests on to another, remembers them, and interferes where it is told to. */
export class Front {
  readonly passed: Passing[] = [];
  interfere: Interference = () => false;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #server: http.Server;

  private constructor(private readonly target: string) {
    this.#server = http.createServer((request, response) => this.#pass(request, response));
  }

  static async start(target: string): Promise<Front> {
    const front = new Front(target);
    await new Promise<void>((resolve) => front.#server.listen(0, '127.0.0.1', resolve));
    after(() => {
      front.#server.close();
      front.#server.closeAllConnections();
      front.#agent.destroy();
    });
    return front;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  url(db: string, login = 'admin:secret'): string {
    return `http://${login === '' ? '' : `${login}@`}127.0.0.1:${this.port}${db}`;
  }

  /** Requests whose path holds the text. */
  count(text: string): number {
    return this.passed.filter(({ path }) => path.includes(text)).length;
  }

  #pass(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { method = '', url: path = '', headers } = request;
    const passing: Passing = { method, path, headers, bytes: 0 };
    this.passed.push(passing);
    request.on('data', (chunk: Buffer) => (passing.bytes += chunk.length));
    if (this.interfere(passing, response)) return;
    const { hostname, port } = new URL(this.target);
    const further = http.request({ hostname, port, method, path, headers, agent: this.#agent }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    further.on('error', () => response.destroy());
    response.on('close', () => further.destroy());
    request.pipe(further);
  }
}

/** A way to a server that breaks off again and again, after a random number of bytes in either direction. */
export class FlakyProxy {
  cuts = 0;
  #joined = 0;
  readonly #sockets = new Set<net.Socket>();
  readonly #server: net.Server;

  private constructor(
    private readonly target: () => number,
    private readonly random: Random,
    /** A connection lives for so many bytes at most. */
    public bytesMost: number,
  ) {
    this.#server = net.createServer((socket) => this.#join(socket));
  }

  /** `target` gives the port that connections lead to, which may change. */
  static async start(target: () => number, seed: number, bytesMost: number): Promise<FlakyProxy> {
    const proxy = new FlakyProxy(target, new Random(seed), bytesMost);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    after(() => proxy.close());
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(left: net.Socket): void {
    const right = net.connect(this.target(), '127.0.0.1');
    // The first one never lasts, so that something breaks off in every run.
    const most = this.#joined++ === 0 ? Math.min(this.bytesMost, 2_000) : this.bytesMost;
    let life = this.bytesMost === Infinity ? Infinity : 200 + this.random.below(most);
    const cut = (): void => {
      left.destroy();
      right.destroy();
    };
    for (const [from, to] of [
      [left, right],
      [right, left],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', cut);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.on('data', (chunk: Buffer) => {
        life -= chunk.length;
        if (life < 0) {
          this.cuts++;
          cut();
        } else if (!to.write(chunk)) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
    }
  }
}
