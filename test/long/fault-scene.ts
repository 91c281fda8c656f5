import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pemFile } from '../support/tls.js';
import type { MixedLoad } from './mixed-load.js';
import { ServerProcess, type ProcessOptions } from './server-process.js';

/** A server that speaks HTTP/2 too. */
export async function serve(t: TestContext, options: ProcessOptions = {}): Promise<ServerProcess> {
  const tls = ['--tls-cert', pemFile('server-cert'), '--tls-key', pemFile('server-key'), '--tls-port', '0'];
  return await ServerProcess.start(t, { ...options, args: [...tls, '--log-level', 'error'] });
}

/** Kills the server under its load, and starts it again. */
export async function kill(server: ServerProcess, load: MixedLoad): Promise<void> {
  requireRunning(server);
  await server.stop('SIGKILL');
  await load.stop();
  await server.start();
}

export function requireRunning(server: ServerProcess): void {
  assert.ok(server.isRunning, `the process ended by itself: ${server.lastWords}`);
}

/** Rounds from one comparison of all documents to the next, which takes longer than a round. */
export const roundsBetweenChecks = 5;
