import type { AddressInfo, ListenOptions, Server } from 'node:net';
import { StartupError } from '../../base/startup-error.js';
import type { Config } from '../../config/config.js';

/** Has a server listen, and gives host and port as an address has them. `hint` is the way to choose another port. */
export async function listenOn(server: Server, options: ListenOptions, hint: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    // Stays: a connection that could not be accepted later on, for want of a handle, must not end the process.
    server.on('error', (error: NodeJS.ErrnoException) =>
      reject(new StartupError(listenProblem(error, options, hint))),
    );
    server.listen(options, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

export function limitConnections(server: Server, config: Config): void {
  const connectionsMax = config.number('tuffet/connections_max');
  if (connectionsMax !== Infinity) server.maxConnections = connectionsMax;
}

function listenProblem(error: NodeJS.ErrnoException, { port, host }: ListenOptions, hint: string): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use by another program; choose another with ${hint}.`;
  if (error.code === 'EACCES')
    return `Port ${port} on ${host} may not be used by this user; choose another with ${hint}.`;
  return `Cannot listen on ${host} port ${port}: ${error.message}`;
}
