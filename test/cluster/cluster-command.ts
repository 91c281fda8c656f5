import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestNode } from './test-node.js';

const program = path.join(import.meta.dirname, '../../src/main/cli.js');

/** A command that waits for longer is ended: what it has said tells what it waited for. */
const timeout = 120_000;

/** Runs `tuffet cluster` for a node. */
export async function command(
  { client }: TestNode,
  ...args: string[]
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [program, 'cluster', ...args, '--url', client.urlWithCredentials], {
    timeout,
  });
  const ended = new Promise<number>((resolve) => child.once('close', resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, output: output + errors };
}
