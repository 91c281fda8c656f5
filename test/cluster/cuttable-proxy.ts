import net from 'node:net';

/** Hands on bytes to a port of this machine, unless it is told to fail as a network does. */
export class CuttableProxy {
  readonly #server = net.createServer({ allowHalfOpen: false, pauseOnConnect: true }, (socket) =>
    this.#accept(socket),
  );
  readonly #sockets = new Set<net.Socket>();
  #state: 'open' | 'cut' | 'silent' = 'open';
  #waiting: net.Socket[] = [];

  private constructor(private target: number) {}

  static async start(target: number): Promise<CuttableProxy> {
    const proxy = new CuttableProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Breaks all connections, and new ones too. */
  cut(): void {
    this.#state = 'cut';
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Breaks all connections; new ones lead to another port. */
  leadTo(port: number): void {
    this.target = port;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Keeps connections, but what is sent does not arrive before `mend`. */
  silence(): void {
    this.#state = 'silent';
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  mend(): void {
    this.#state = 'open';
    for (const socket of this.#waiting.splice(0)) this.#connect(socket);
    for (const socket of this.#sockets) {
      const other = others.get(socket);
      if (other !== undefined) socket.pipe(other);
    }
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #accept(socket: net.Socket): void {
    this.#keep(socket);
    if (this.#state === 'cut') socket.destroy();
    else if (this.#state === 'silent') this.#waiting.push(socket);
    else this.#connect(socket);
  }

  #connect(socket: net.Socket): void {
    if (socket.destroyed) return;
    const onward = net.connect(this.target, '127.0.0.1');
    this.#keep(onward);
    others.set(socket, onward);
    others.set(onward, socket);
    for (const [one, other] of [[socket, onward] as const, [onward, socket] as const]) {
      one.on('close', () => other.destroy());
      if (this.#state === 'open') one.pipe(other);
    }
  }

  #keep(socket: net.Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

/** The other end of each connection. */
const others = new WeakMap<net.Socket, net.Socket>();
