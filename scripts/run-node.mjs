// Runs a built program in place of this process: same arguments, streams, signals and exit code.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { root } from './ensure-built.mjs';

export function runNode(program, args) {
  const child = spawn(process.execPath, ['--enable-source-maps', path.join(root, program), ...args], {
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to the whole group, the child included; forwarding it would count as a second signal.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
}
