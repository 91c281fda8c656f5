import http from 'node:http';
import net from 'node:net';
import { after } from 'node:test';

/** What went through a proxy. */
export interface ProxyLog {
  port: number;
  /** `GET http://…` for requests that were passed on, `CONNECT host:port` for tunnels. */
  seen: string[];
  authorizations: (string | undefined)[];
}

/** Gives the port. */
export async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as net.AddressInfo).port;
}

function tunnel(socket: net.Socket, host: string, port: number, ready: () => void): void {
  const further = net.connect(port, host, () => {
    ready();
    socket.pipe(further);
    further.pipe(socket);
  });
  for (const [a, b] of [
    [socket, further],
    [further, socket],
  ] as const) {
    a.on('error', () => b.destroy());
    a.on('close', () => b.destroy());
  }
}

/** A proxy for HTTP: requests with whole addresses, and tunnels. */
export async function startHttpProxy(): Promise<ProxyLog> {
  const log: ProxyLog = { port: 0, seen: [], authorizations: [] };
  const server = http.createServer((request, response) => {
    const url = new URL(request.url!);
    log.seen.push(`${request.method} ${url.origin}`);
    log.authorizations.push(request.headers['proxy-authorization']);
    const { method, headers } = request;
    const further = http.request(
      { hostname: url.hostname, port: url.port, path: url.pathname + url.search, method, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    further.on('error', () => response.destroy());
    request.pipe(further);
  });
  server.on('connect', (request: http.IncomingMessage, socket: net.Socket) => {
    log.seen.push(`CONNECT ${request.url}`);
    log.authorizations.push(request.headers['proxy-authorization']);
    const [host, port] = request.url!.split(':') as [string, string];
    tunnel(socket, host, Number(port), () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
  });
  log.port = await listen(server);
  return log;
}

/** A SOCKS5 proxy (RFC 1928), with names and passwords (RFC 1929) where one is given. */
export async function startSocksProxy(login?: { name: string; password: string }): Promise<ProxyLog> {
  const log: ProxyLog = { port: 0, seen: [], authorizations: [] };
  const server = net.createServer((socket) => {
    let step: 'hello' | 'login' | 'connect' | 'done' = 'hello';
    socket.on('error', () => socket.destroy());
    const onData = (bytes: Buffer): void => {
      if (step === 'hello') {
        socket.write(Buffer.from([5, login === undefined ? 0 : 2]));
        step = login === undefined ? 'connect' : 'login';
      } else if (step === 'login') {
        const name = bytes.subarray(2, 2 + bytes[1]!).toString();
        const password = bytes.subarray(3 + bytes[1]!).toString();
        log.authorizations.push(`${name}:${password}`);
        const right = name === login!.name && password === login!.password;
        socket.write(Buffer.from([1, right ? 0 : 1]));
        step = 'connect';
        if (!right) socket.end();
      } else if (step === 'connect') {
        step = 'done';
        const { host, port } = readAddress(bytes);
        log.seen.push(`CONNECT ${host}:${port}`);
        socket.off('data', onData);
        tunnel(socket, host, port, () => socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
      }
    };
    socket.on('data', onData);
  });
  log.port = await listen(server);
  return log;
}

function readAddress(bytes: Buffer): { host: string; port: number } {
  const named = bytes[3] === 3;
  const end = named ? 5 + bytes[4]! : 8;
  const host = named ? bytes.subarray(5, end).toString() : [...bytes.subarray(4, 8)].join('.');
  return { host, port: bytes.readUInt16BE(end) };
}
