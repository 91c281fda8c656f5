import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a floor is given when it is started. */
export const settings = <Settings>(): Settings => JSON.parse(process.argv[2] ?? '{}') as Settings;

/** Listens on a free port and tells it to the benchmark. Ends with it. */
export function serve(server: Server): void {
  server.keepAliveTimeout = 65_000;
  server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
  process.on('disconnect', () => process.exit());
}

/** Answers each question of the benchmark. */
export function answerEach(answer: () => Promise<unknown>): void {
  process.on('message', () => void answer().then(say));
  process.on('disconnect', () => process.exit());
}

export function say(message: unknown): void {
  process.send!(message);
}
