import http from 'node:http';
import net from 'node:net';

/** Posts one body after the other on one connection. Every one must be answered 201. */
export async function postAll(url: string, bodies: readonly Buffer[]): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (const body of bodies) {
    const status = await post(url, body, agent);
    if (status !== 201) throw new Error(`POST ${url} was answered ${status}.`);
  }
  agent.destroy();
}

async function post(url: string, body: Buffer, agent: http.Agent): Promise<number> {
  return await new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const request = http.request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.on('end', () => resolve(answer.statusCode!));
      answer.resume();
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Reads an answer to its end without looking at it, into one buffer; gives the number of bytes, head included. */
export async function readThrough(host: string, port: number, path: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    let bytes = 0;
    const onread = {
      buffer: Buffer.allocUnsafe(256 * 1024),
      callback: (length: number) => {
        bytes += length;
        return true;
      },
    };
    const socket = net.connect({ host, port, onread });
    socket.on('error', reject);
    socket.on('close', () => resolve(bytes));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}
