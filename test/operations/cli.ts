import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const program = path.resolve(import.meta.dirname, '../../src/main/cli.js');

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. */
export async function tuffet(...args: string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'] },
  });
  const outcome: Outcome = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (data) => (outcome.stdout += String(data)));
  child.stderr.on('data', (data) => (outcome.stderr += String(data)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...outcome, code };
}
